import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDraft } from '../../api/use-draft.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { PageBody, PageHead } from '../../ui/page.tsx';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { nameOf, sentenceOf } from './sentence.ts';

/** One notification: what it does, and what came of it. */
export function NotificationOverview(): ReactNode {
  const { w, n } = useParams({ from: '/workspaces/$w/notifications/$n' });
  const draft = useDraft('notifications', w, n);
  return (
    <>
      <PageHead title={nameOf(draft.body, n)} lead={draft.body ? sentenceOf(draft.body) : undefined}>
        <DraftActions draft={draft} />
      </PageHead>
      <PageBody>
        {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
        {draft.isLoading && <Loading what="the notification" />}
        <DraftNotices draft={draft} />
      </PageBody>
    </>
  );
}
