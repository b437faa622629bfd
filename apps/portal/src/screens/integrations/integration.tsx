import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { statusQuery } from '../../api/status.ts';
import { useDraft } from '../../api/use-draft.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Card, PageBody, PageHead } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Code } from '../../ui/text.tsx';
import { AsFile } from '../drafts/as-file.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { CheckPanel } from '../setup/check-panel.tsx';
import { SetupForm, type SetupDraft } from '../setup/setup-form.tsx';
import { SourceCard } from '../sources/source-card.tsx';
import { Cohorts } from './cohorts.tsx';
import { integrationKindOf, webhookOf, type IntegrationKind } from './integration-kinds.ts';
import { WaitingEvents } from './waiting.tsx';

const Topics = lazyPart(() => import('../sources/topics.tsx').then(({ Topics: loaded }) => loaded));
const Tables = lazyPart(() => import('../sources/tables.tsx').then(({ Tables: loaded }) => loaded));

/** One integration: its settings, what to paste at the other side, its check, and the first sync as it comes. */
export function Integration(): ReactNode {
  const { w, i } = useParams({ from: '/workspaces/$w/integrations/$i' });
  const draft = useDraft('integrations', w, i);
  const kind = integrationKindOf(draft.body);
  const all = (
    <Link to="/workspaces/$w/integrations" params={{ w }}>
      Integrations
    </Link>
  );
  return (
    <>
      <PageHead title={i} crumbs={[all, i]} lead={kind ? `${kind.title}. ${kind.summary}` : undefined}>
        <DraftActions draft={draft} />
      </PageHead>
      <PageBody>
        {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
        {draft.isLoading && <Loading what="the integration" />}
        <DraftNotices draft={draft} />
        {!draft.isLoading && !draft.error && draft.body === null && (
          <Empty title={draft.resource === null ? `There is no integration ${i}` : 'The draft removes it'} action={all}>
            {draft.resource === null
              ? 'It was removed, or it has another name now.'
              : 'The integration works until you publish its removal.'}
          </Empty>
        )}
        {kind && draft.body && <Parts draft={draft} kind={kind} />}
      </PageBody>
    </>
  );
}

function Parts({ draft, kind }: { readonly draft: SetupDraft; readonly kind: IntegrationKind }): ReactNode {
  const isPartner = kind.group === 'partner';
  const { workspace, name, resource } = draft;
  const { data: status } = useQuery(statusQuery);
  return (
    <>
      {isPartner && resource !== null && <WaitingEvents workspace={workspace} name={name} />}
      {kind.group === 'source' && resource !== null && <SourceCard workspace={workspace} name={name} />}
      <Card title="Settings">
        <SetupForm draft={draft} parts={kind.parts} />
      </Card>
      {kind.setup !== null && status && (
        <Card title="Setup at the platform">
          <p>{kind.setup}</p>
          <Code text={webhookOf(status.events_url, workspace, name)} what="the webhook address" />
          {resource === null && <p>The URL works after you publish the draft.</p>}
        </Card>
      )}
      <CheckPanel draft={draft} asksForIds={isPartner} what={kind.checkNote} />
      {kind.role === 'database' && (
        <Part loading={<Loading what="the tables" />}>
          <Tables draft={draft} />
        </Part>
      )}
      {kind.role === 'topics' && (
        <Part loading={<Loading what="the topics" />}>
          <Topics draft={draft} />
        </Part>
      )}
      {kind.group === 'cohorts' && resource !== null && <Cohorts workspace={workspace} name={name} />}
      {resource !== null && <AsFile kind="integrations" workspace={workspace} name={name} number={resource.number} />}
    </>
  );
}
