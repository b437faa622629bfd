import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { useDraft, type EditedDraft } from '../../api/use-draft.ts';
import { FormFaults } from '../../faults/form-faults.tsx';
import { faultText } from '../../faults/fault-text.ts';
import { FaultScope } from '../../ui/held-fault.tsx';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Card, PageBody, PageHead } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { AsFile } from '../drafts/as-file.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { Categories } from './categories.tsx';
import { Environment } from './environment.tsx';
import { SettingsFields } from './settings-fields.tsx';
import styles from './workspaces.module.css';

const RemoveWorkspace = lazyPart(() => import('./remove-workspace.tsx').then(({ RemoveWorkspace: loaded }) => loaded));

/** What a workspace says of itself, as a draft: name, clock, language, what people can opt out of, and what it is there for. */
export function WorkspaceSettings(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/settings' });
  const draft = useDraft('workspace', w, '');
  const off = useMay('configure', w);
  const all = <Link to="/workspaces">Workspaces</Link>;
  return (
    <>
      <PageHead title={`Settings of ${w}`} crumbs={[all, w]}>
        <DraftActions draft={draft} />
      </PageHead>
      <PageBody>
        {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
        {draft.isLoading && <Loading what="the settings" />}
        <DraftNotices draft={draft} />
        {off !== null && <p className={cls(styles.quiet)}>{off}</p>}
        {!draft.isLoading && !draft.error && draft.body === null && (
          <Empty
            title={draft.resource === null ? `${w} has no settings yet` : 'The draft removes the workspace'}
            action={
              draft.resource === null && (
                <Button off={off} onPress={() => draft.change({ time_zone: 'UTC' })}>
                  Create a draft of the settings
                </Button>
              )
            }
          >
            {draft.resource === null
              ? 'Until then its time zone is UTC and its language English.'
              : 'The workspace works as before until you publish the draft.'}
          </Empty>
        )}
        {draft.body && <Parts draft={draft} body={draft.body} isOff={off !== null} />}
        {draft.resource && (
          <>
            <AsFile kind="workspace" workspace={w} name="" number={draft.resource.number} />
            <Curl call={{ method: 'GET', path: `/v1/workspaces/${w}` }} />
          </>
        )}
        {!draft.isLoading && !draft.error && (
          <Part>
            <RemoveWorkspace workspace={w} />
          </Part>
        )}
      </PageBody>
    </>
  );
}

const SHOWN = ['name', 'time_zone', 'locale', 'categories'];

function Parts({
  draft,
  body,
  isOff,
}: {
  readonly draft: EditedDraft<'workspace'>;
  readonly body: NonNullable<EditedDraft<'workspace'>['body']>;
  readonly isOff: boolean;
}): ReactNode {
  const { workspace, change } = draft;
  // Faults of what no field shows are said all the same.
  const shown = SHOWN.flatMap((path) => draft.faultsAt(path));
  const others = draft.faults.filter((fault) => !shown.includes(fault));
  return (
    <FaultScope draft={draft}>
      <Card title="Name, time zone and language">
        <div className={cls(styles.form)}>
          <SettingsFields
            body={body}
            workspace={workspace}
            isOff={isOff}
            faultOf={(path) => draft.faultsAt(path).map(faultText)[0] ?? null}
            onChange={change}
          />
        </div>
      </Card>
      <Environment workspace={workspace} body={body} isOff={isOff} onChange={change} />
      <Categories body={body} isOff={isOff} faultsAt={draft.faultsAt} onChange={change} />
      <FormFaults faults={others} />
      <p className={cls(styles.quiet)}>
        Limits and quiet hours of all notifications are under{' '}
        <Link to="/workspaces/$w/cadence" params={{ w: workspace }}>
          Cadence
        </Link>
        .
      </p>
    </FaultScope>
  );
}
