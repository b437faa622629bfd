import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDraft } from '../../api/use-draft.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Card, Quiet } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { DraftNotices } from '../drafts/draft-actions.tsx';
import { notificationsQuery } from '../notifications/queries.ts';
import { nameOf } from '../notifications/sentence.ts';
import { accountKindOf, CHANNEL_WORDS, type Channel } from './account-kinds.ts';
import { ChannelAccounts } from './channel-accounts.tsx';
import { accountsFor } from './priority.ts';
import { accountsQuery } from './queries.ts';
import { cls } from '../../ui/class-names.ts';
import styles from '../setup/setup.module.css';

/** Which notifications send over an account, and with which priority; a change is a draft of the notification. */
export function UsedBy({
  workspace,
  account,
  carries,
}: {
  readonly workspace: string;
  readonly account: string;
  readonly carries: readonly Channel[];
}): ReactNode {
  const { data, error, refetch } = useQuery(notificationsQuery(workspace));
  const users = (data?.items ?? []).flatMap(({ name, body }) =>
    carries.filter((channel) => body.channels[channel] !== undefined).map((channel) => ({ name, channel })),
  );
  return (
    <Card title="Notifications that use this account">
      <p>
        A notification uses its first account. If that account did not accept a message, Carillon tries the next
        account. A notification without an account uses the deployment’s account of its channel.
      </p>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="notifications" rows={3} />}
      {data && users.length === 0 && (
        <Quiet>No notification sends by {carries.map((one) => CHANNEL_WORDS[one]).join(' or ')} yet.</Quiet>
      )}
      {users.map(({ name, channel }) => (
        <User key={`${name} ${channel}`} workspace={workspace} name={name} channel={channel} account={account} />
      ))}
    </Card>
  );
}

function User({
  workspace,
  name,
  channel,
  account,
}: {
  readonly workspace: string;
  readonly name: string;
  readonly channel: Channel;
  readonly account: string;
}): ReactNode {
  const draft = useDraft('notifications', workspace, name);
  const { data } = useQuery(accountsQuery(workspace));
  const named = draft.body ? accountsFor(draft.body, channel) : [];
  const others = (data?.items ?? [])
    .filter(({ name: one, body }) => named.includes(one) && (accountKindOf(body)?.channels.includes(channel) ?? false))
    .map((one) => one.name);
  return (
    <section aria-label={`${CHANNEL_WORDS[channel]} of ${name}`} className={cls(styles.group)}>
      <h3>
        <Link to="/workspaces/$w/notifications/$n" params={{ w: workspace, n: name }}>
          {nameOf(draft.body, name)}
        </Link>{' '}
        by {CHANNEL_WORDS[channel]}
      </h3>
      <DraftNotices draft={draft} />
      {draft.hasDraft && (
        <p role="status" data-user-draft={draft.saving}>
          <Lamp tone="held">
            {draft.saving === 'saved' ? 'Added to a draft. Publish it to use the account.' : 'Saving the draft'}
          </Lamp>
        </p>
      )}
      <ChannelAccounts draft={draft} channel={channel} offered={[...new Set([account, ...others])]} />
    </section>
  );
}
