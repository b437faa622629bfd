import { useMutation } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { readBoth, saveDraft } from '../api/draft-calls.ts';
import { useMay } from '../api/me.ts';
import { reloadDrafts } from '../api/use-draft.ts';
import { Problem } from '../ui/answers.tsx';
import { Button } from '../ui/button.tsx';
import { cls } from '../ui/class-names.ts';
import { titleOf } from '../screens/drafts/change-words.ts';
import { withChannel } from '../screens/templates/template-parts.ts';
import { fixOf, type FaultPlace } from './fault-place.ts';
import { faultText } from './fault-text.ts';
import styles from './faults.module.css';

export type Fault = Schemas['Draft']['faults'][number];

/** Mistakes in the portal's words, each with the button or link that fixes it. */
export function FaultList({
  faults,
  label = 'Mistakes',
  tone = 'bad',
  isTitled = false,
}: {
  readonly faults: readonly Fault[];
  readonly label?: string;
  /** `todo` marks unfinished work that is not a fault. */
  readonly tone?: 'bad' | 'warning' | 'todo';
  /** Each says which resource it is about. */
  readonly isTitled?: boolean;
}): ReactNode {
  if (faults.length === 0) return null;
  return (
    <ul aria-label={label} className={cls(styles.list, styles[tone])}>
      {faults.map((fault) => (
        <li key={`${fault.kind} ${fault.name} ${fault.path} ${fault.code} ${fault.message}`}>
          <span>
            {isTitled && `${titleOf(fault)}: `}
            {faultText(fault)}
          </span>
          <Fix fault={fault} />
        </li>
      ))}
    </ul>
  );
}

/** What fixes a fault, unless it is fixed on this very page. */
export function Fix({ fault }: { readonly fault: Fault }): ReactNode {
  const { pathname } = useLocation();
  if (fault.code === 'template_lacks_channel') return <WriteChannel fault={fault} />;
  const place = fixOf(fault);
  if (place === null || decodeURI(pathname) === pathOf(place)) return null;
  return <PlaceLink place={place} />;
}

const pathOf = ({ to, params }: FaultPlace): string =>
  to.replaceAll(/\$(\w+)/g, (_, name: string) => params[name] ?? '');

export function PlaceLink({ place }: { readonly place: FaultPlace }): ReactNode {
  const { to, params, search = {}, label } = place;
  // Pages are named by data here, so that no type says which parameters each has.
  return (
    <Link to={to as '/'} params={params as never} search={search as never} className={cls(styles.fix)}>
      {label}
    </Link>
  );
}

/** Begins the missing text of a channel in the draft of its template, and opens it. */
function WriteChannel({ fault }: { readonly fault: Fault }): ReactNode {
  const { workspace, facts } = fault;
  const name = facts['template'] ?? '';
  const [channel = ''] = (facts['channel'] ?? '').split(', ');
  const off = useMay('configure', workspace);
  const navigate = useNavigate();
  const write = useMutation({
    mutationFn: async () => {
      const address = { kind: 'templates', workspace, name } as const;
      const { resource, draft } = await readBoth(address);
      const before = (draft ? draft.body : resource?.body) ?? {};
      if (Object.hasOwn(before, channel)) return;
      const body = withChannel(before, channel as Parameters<typeof withChannel>[1]);
      const basedOn = draft ? undefined : (resource?.number ?? null);
      await saveDraft(address, { body, revision: draft?.revision ?? null, basedOn });
      reloadDrafts(workspace);
    },
    onSuccess: () =>
      navigate({ to: '/workspaces/$w/templates/$t', params: { w: workspace, t: name }, search: { channel } }),
  });
  return (
    <>
      <Button off={off} isDisabled={write.isPending} onPress={() => write.mutate()}>
        Add it to the draft
      </Button>
      {write.error && <Problem error={write.error} />}
    </>
  );
}
