import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDraft } from '../../api/use-draft.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Card, PageBody, PageHead } from '../../ui/page.tsx';
import { AsFile } from '../drafts/as-file.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { CheckPanel } from '../setup/check-panel.tsx';
import { SetupForm } from '../setup/setup-form.tsx';
import { accountKindOf } from './account-kinds.ts';
import { UsedBy } from './used-by.tsx';

/** One account: its settings, its check, and which notifications send over it. */
export function Account(): ReactNode {
  const { w, a } = useParams({ from: '/workspaces/$w/accounts/$a' });
  const draft = useDraft('accounts', w, a);
  const kind = accountKindOf(draft.body);
  const all = (
    <Link to="/workspaces/$w/accounts" params={{ w }}>
      Accounts
    </Link>
  );
  return (
    <>
      <PageHead title={a} crumbs={[all, a]} lead={kind ? `${kind.title}. ${kind.summary}` : undefined}>
        <DraftActions draft={draft} />
      </PageHead>
      <PageBody>
        {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
        {draft.isLoading && <Loading what="the account" />}
        <DraftNotices draft={draft} />
        {!draft.isLoading && !draft.error && draft.body === null && (
          <Empty title={draft.resource === null ? `There is no account ${a}` : 'The draft removes it'} action={all}>
            {draft.resource === null
              ? 'It was removed, or it has another name now.'
              : 'The account sends until you publish its removal.'}
          </Empty>
        )}
        {kind && draft.body && (
          <>
            <Card title="Settings">
              <SetupForm draft={draft} parts={kind.parts} />
            </Card>
            <CheckPanel
              draft={draft}
              what="Carillon signs in to the account as if to send a message. Nobody gets one."
            />
            <UsedBy workspace={w} account={a} carries={kind.channels} />
            {draft.resource && <AsFile kind="accounts" workspace={w} name={a} number={draft.resource.number} />}
          </>
        )}
      </PageBody>
    </>
  );
}
