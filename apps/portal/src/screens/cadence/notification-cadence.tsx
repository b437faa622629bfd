import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readPublished } from '../../api/draft-calls.ts';
import { useMay } from '../../api/me.ts';
import type { EditedDraft } from '../../api/use-draft.ts';
import { Card } from '../../ui/page.tsx';
import { CadenceForm } from './cadence-form.tsx';
import { withCadence } from './cadence-values.ts';
import { Drawing } from './drawing.tsx';
import { cls } from '../../ui/class-names.ts';
import styles from './cadence.module.css';

/** How often and when one notification tells people, and what that would have meant in the last week. */
export function CadenceOfNotification({ draft }: { readonly draft: EditedDraft<'notifications'> }): ReactNode {
  const { workspace, name, body, hasDraft } = draft;
  const off = useMay('configure', workspace);
  if (!body) return null;
  return (
    <>
      <Card title="Cadence">
        {off !== null && <p className={cls(styles.quiet)}>{off}</p>}
        <CadenceForm
          of="notification"
          cadence={body.cadence ?? {}}
          isOff={off !== null}
          faultsAt={draft.faultsAt}
          onChange={(cadence) => draft.change((before) => withCadence(before, cadence))}
        />
        <Across workspace={workspace} />
      </Card>
      <Drawing tried={{ workspace, notification: name, put: hasDraft ? { kind: 'notification', name, body } : null }} />
    </>
  );
}

/** The limits that count beside it: those of all notifications together. */
function Across({ workspace }: { readonly workspace: string }): ReactNode {
  const { data } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}', workspace],
    queryFn: ({ signal }) => readPublished({ kind: 'workspace', workspace, name: '' }, signal),
  });
  const limits = data?.body.cadence?.limits ?? [];
  return (
    <p className={cls(styles.quiet)}>
      For all notifications of the workspace:{' '}
      {limits.length === 0
        ? 'no limit'
        : limits.map(({ max, per, then }) => `${max} in ${per}, then ${then}`).join('; ')}
      .{' '}
      <Link to="/workspaces/$w/cadence" params={{ w: workspace }}>
        Cadence of the workspace
      </Link>
    </p>
  );
}
