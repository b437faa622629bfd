import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Quiet, Row, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { draftsQuery, type DraftFacts } from '../drafts/queries.ts';
import { checkQuery, type Checkable } from './queries.ts';

const DRAFT_WORDS = { create: 'New, not published yet', update: 'Draft', delete: 'Draft: will be removed' } as const;

const DRAFT_KINDS = { accounts: 'account', integrations: 'integration' } as const satisfies Record<Checkable, string>;

/** What is being edited of this kind, and of that what is not published yet: `published` are the names of the rest. */
export function useSetupDrafts(kind: Checkable, workspace: string, published: readonly string[]) {
  const { data } = useQuery({ ...draftsQuery(workspace), enabled: workspace !== EVERY_WORKSPACE });
  const drafts = new Map(
    (data?.items ?? []).filter((draft) => draft.kind === DRAFT_KINDS[kind]).map((draft) => [draft.name, draft]),
  );
  const unborn = [...drafts.values()].filter(({ name, action }) => action === 'create' && !published.includes(name));
  return { drafts, unborn, taken: [...published, ...drafts.keys()] };
}

type Listed = {
  readonly workspace: string;
  readonly name: string;
  /** What it is, in a line. */
  readonly words: string;
  /** It is checked without being asked to. */
  readonly asks: boolean;
};

/** All of a kind: first what is not published yet, then what is. */
export function SetupRows({
  kind,
  label,
  workspace,
  items,
  drafts,
  unborn,
  asks,
}: {
  readonly kind: Checkable;
  readonly label: string;
  readonly workspace: string;
  readonly items: readonly Listed[];
  readonly drafts: ReadonlyMap<string, DraftFacts>;
  readonly unborn: readonly DraftFacts[];
  /** What is not published yet is checked without being asked to. */
  readonly asks: boolean;
}): ReactNode {
  return (
    <Rows label={label}>
      {unborn.map((draft) => (
        <SetupRow
          key={`draft ${draft.name}`}
          kind={kind}
          workspace={workspace}
          name={draft.name}
          words="Only a draft so far"
          isPublished={false}
          draft={draft}
          asks={asks}
        />
      ))}
      {items.map((one) => (
        <SetupRow key={`${one.workspace}/${one.name}`} kind={kind} {...one} isPublished draft={drafts.get(one.name)} />
      ))}
    </Rows>
  );
}

/** One of the list: what it is, whether it works as far as this tab knows, and whether it is being edited. */
function SetupRow({
  kind,
  workspace,
  name,
  words,
  isPublished,
  draft,
  asks,
}: Listed & {
  readonly kind: Checkable;
  readonly isPublished: boolean;
  readonly draft: DraftFacts | undefined;
}): ReactNode {
  const off = useMay(['configure', 'operate'], workspace);
  const { data, error, isFetching } = useQuery(
    checkQuery({ kind, workspace, name, drafts: !isPublished }, asks && off === null),
  );
  const failing = data?.find(({ ok }) => !ok);
  return (
    <Row>
      <span>
        <h2>
          <Link
            to={kind === 'accounts' ? '/workspaces/$w/accounts/$a' : '/workspaces/$w/integrations/$i'}
            params={{ w: workspace, a: name, i: name }}
          >
            {name}
          </Link>
        </h2>
        <Quiet>{words}</Quiet>
      </span>
      {draft && <Lamp tone="held">{draft.state === 'conflict' ? 'Draft in conflict' : DRAFT_WORDS[draft.action]}</Lamp>}
      {isFetching && <Quiet>Checking</Quiet>}
      {error && <Lamp tone="bad">{error.message}</Lamp>}
      {data && (
        <Lamp tone={failing ? 'bad' : 'good'} name={failing ? 'check-bad' : 'check-good'}>
          {failing ? `Failed step: ${failing.step}` : 'Works'}
        </Lamp>
      )}
      {!data && !error && !isFetching && <Lamp tone="none">Not checked</Lamp>}
    </Row>
  );
}
