import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { useDraft, type EditedDraft } from '../../api/use-draft.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { FaultScope } from '../../ui/held-fault.tsx';
import { LinkTabs } from '../../ui/link-tabs.tsx';
import { PageBody, PageHead } from '../../ui/page.tsx';
import { say } from '../../ui/notices.ts';
import { useLetters } from '../../ui/use-letter.ts';
import { DraftActions, DraftNotices } from '../drafts/draft-actions.tsx';
import { PromoteLink } from '../promote/promote-link.tsx';
import styles from './notifications.module.css';
import { nameOf, rulesOf, sentenceOf, type NotificationBody } from './sentence.ts';

export type NotificationDraft = EditedDraft<'notifications'> & {
  readonly body: NotificationBody;
  /** Why the user may not edit it. Null if they may. */
  readonly off: string | null;
};

const TABS = [
  ['Overview', '/workspaces/$w/notifications/$n'],
  ['Rules', '/workspaces/$w/notifications/$n/rules'],
  ['Channels', '/workspaces/$w/notifications/$n/channels'],
  ['Cadence', '/workspaces/$w/notifications/$n/cadence'],
  ['Secure your endpoint', '/workspaces/$w/notifications/$n/secure'],
  ['Versions', '/workspaces/$w/notifications/$n/versions'],
] as const;
const TAB_KEYS = '123456';

/** The frame of a notification's tabs: name, effect, draft, and links to the other tabs. */
export function NotificationFrame({
  w,
  n,
  isWide = false,
  children,
}: {
  readonly w: string;
  readonly n: string;
  readonly isWide?: boolean;
  /** Draws the tab from the notification as it is edited. */
  readonly children: (draft: NotificationDraft) => ReactNode;
}): ReactNode {
  const draft = useDraft('notifications', w, n);
  const off = useMay('configure', w);
  const { body } = draft;
  const change: NotificationDraft['change'] = off === null ? draft.change : () => say(off);
  const rules = rulesOf(body).length;
  const navigate = useNavigate();
  useLetters(TAB_KEYS, (key) => {
    const [, to] = TABS[TAB_KEYS.indexOf(key)] ?? TABS[0];
    void navigate({ to, params: { w, n } });
  });
  return (
    <>
      <PageHead
        title={nameOf(body ?? draft.resource?.body, n)}
        crumbs={[
          <Link key="all" to="/workspaces/$w/notifications" params={{ w }}>
            Notifications
          </Link>,
          n,
        ]}
        lead={body ? sentenceOf(body) : undefined}
      >
        <PromoteLink workspace={w} notification={n} />
        <DraftActions draft={draft} />
      </PageHead>
      <LinkTabs label="Parts of the notification">
        {(tabClass) =>
          TABS.map(([name, to]) => (
            <Link
              key={to}
              to={to}
              params={{ w, n }}
              className={tabClass}
              activeOptions={{ exact: name !== 'Rules', includeSearch: false }}
            >
              {name}
              {name === 'Rules' && rules > 0 && ` ${rules}`}
            </Link>
          ))
        }
      </LinkTabs>
      <PageBody isWide={isWide}>
        {draft.error && <Problem error={draft.error} onRetry={draft.retry} />}
        {draft.isLoading && <Loading what="the notification" />}
        <DraftNotices draft={draft} />
        {!draft.isLoading && !draft.error && body === null && <Gone draft={draft} />}
        {off !== null && body !== null && <p className={cls(styles.off)}>{off}</p>}
        {body !== null && <FaultScope draft={draft}>{children({ ...draft, body, off, change })}</FaultScope>}
      </PageBody>
    </>
  );
}

/** There is none, or its draft removes it. */
function Gone({ draft }: { readonly draft: EditedDraft<'notifications'> }): ReactNode {
  const { workspace, name, resource } = draft;
  const back = (
    <Link to="/workspaces/$w/notifications" params={{ w: workspace }}>
      All notifications
    </Link>
  );
  if (resource === null) {
    return (
      <Empty title={`There is no notification ${name}`} action={back}>
        The notification was removed or renamed.
      </Empty>
    );
  }
  return (
    <Empty title="This draft removes the notification" action={back}>
      The notification works until you publish its removal. Discard the draft to keep it.
    </Empty>
  );
}
