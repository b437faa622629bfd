import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { useDraft } from '../../api/use-draft.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { FaultScope } from '../../ui/held-fault.tsx';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Card, PageBody, PageHead } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { notificationsQuery } from '../notifications/queries.ts';
import { nameOf } from '../notifications/sentence.ts';
import { CadenceForm } from './cadence-form.tsx';
import { withCadence } from './cadence-values.ts';
import { Drawing } from './drawing.tsx';
import { simulationQuery } from './simulate.ts';
import styles from './cadence.module.css';

/** Limits and quiet hours of all notifications of a workspace together. */
export function WorkspaceCadence(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/cadence' });
  if (w === EVERY_WORKSPACE) {
    return (
      <>
        <PageHead title="Cadence" />
        <Empty title="Choose a workspace">Each workspace has its own limits and quiet hours.</Empty>
      </>
    );
  }
  return <Editor workspace={w} />;
}

const ALL = '';

function Editor({ workspace }: { readonly workspace: string }): ReactNode {
  const draft = useDraft('workspace', workspace, '');
  const off = useMay('configure', workspace);
  const { body, hasDraft } = draft;
  const { data: notifications } = useQuery(notificationsQuery(workspace));
  const { data: all } = useQuery(simulationQuery({ workspace, put: null }));
  const [chosen, setChosen] = useState<string | null>(null);
  const names = notifications?.items ?? [];
  // Without messages, the example week of one notification is more useful than an empty drawing.
  const isSilent = all !== undefined && all.now.messages === 0;
  const shown = chosen ?? (isSilent ? (names[0]?.name ?? ALL) : ALL);
  return (
    <>
      <PageHead
        title="Cadence"
        lead="Limits and quiet hours for all notifications of the workspace together. Limits do not apply to transactional notifications."
      >
        <DraftActions draft={draft} />
      </PageHead>
      <PageBody>
        {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
        {draft.isLoading && <Loading what="the cadence" />}
        <DraftNotices draft={draft} />
        {body && (
          <>
            <Card title="For all notifications">
              {off !== null && <p className={cls(styles.quiet)}>{off}</p>}
              <FaultScope draft={draft}>
                <CadenceForm
                  of="workspace"
                  cadence={body.cadence ?? {}}
                  isOff={off !== null}
                  faultsAt={draft.faultsAt}
                  onChange={(cadence) => draft.change((before) => withCadence(before, cadence))}
                />
              </FaultScope>
            </Card>
            <Drawing
              tried={{
                workspace,
                ...(shown !== ALL && { notification: shown }),
                put: hasDraft ? { kind: 'workspace', name: '', body } : null,
              }}
            >
              <div className={cls(styles.wide)}>
                <Select
                  label="Messages of"
                  options={[
                    { id: ALL, name: 'all notifications' },
                    ...names.map((one) => ({ id: one.name, name: nameOf(one.body, one.name) })),
                  ]}
                  chosen={shown}
                  onChoose={setChosen}
                />
              </div>
            </Drawing>
          </>
        )}
      </PageBody>
    </>
  );
}
