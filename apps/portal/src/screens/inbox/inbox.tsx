import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useLiveList } from '../../api/live-list.ts';
import { Empty, Loading } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { LiveLine } from '../../ui/live-line.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Time } from '../../ui/time.tsx';
import { useMaySee } from '../../ui/if-allowed.tsx';
import { ListScreen } from '../../ui/list-screen.tsx';
import { channelWords, titleOf, type Message } from './message-words.ts';
import styles from './inbox.module.css';

// Comes after the list that it is opened from.
const MessagePanel = lazyPart(() => import('./message.tsx').then(({ MessagePanel: loaded }) => loaded));

const keyOf = ({ id }: Message): string => id;
const row = (message: Message): ReactNode => (
  <span className={cls(styles.row)}>
    <bdi className={cls(styles.first)}>{titleOf(message)}</bdi>
    <span className={cls(styles.time)}>
      <Time at={message.at} ago />
    </span>
    <span className={cls(styles.second)}>
      {channelWords(message.channel)} · <bdi>{message.to}</bdi> · {message.workspace}
    </span>
  </span>
);

const FROM = '/workspaces/$w/inbox';

const ANY = 'any';
const CHANNELS = [ANY, 'email', 'sms', 'push'] as const;
const CHANNEL_CHOICES = CHANNELS.map((id) => ({ id, name: id === ANY ? 'Any channel' : channelWords(id) }));

const COLUMNS = { row, rowHeight: 64 } as const;

/** What the built-in sandbox kept instead of sending it. */
export function Inbox(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, view, recipient, channel } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const filter = useMemo(
    () => ({ ...(recipient !== undefined && { recipient }), ...(channel !== undefined && { channel }) }),
    [recipient, channel],
  );
  const isFiltered = Object.keys(filter).length > 0;
  const load = useMemo(
    () => (cursor: string | null, signal: AbortSignal) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/inbox', {
          // The server says of a word that no channel has it.
          params: {
            path: { workspace: w },
            query: { limit: 50, ...(filter as object), ...(cursor !== null && { cursor }) },
          },
          signal,
        }),
      ),
    [w, filter],
  );
  const followed = { workspace: w, topic: 'inbox' } as const;
  const maySee = useMaySee();
  const list = useLiveList('/v1/inbox', `${w} ${JSON.stringify(filter)}`, maySee ? load : null, keyOf, followed);
  const show = useCallback(
    (id: string) => void navigate({ search: { ...filter, open: id }, replace: open !== undefined }),
    [navigate, open, filter],
  );
  const find = (next: { readonly recipient?: string; readonly channel?: string }): void =>
    void navigate({ search: { ...filter, ...next, ...(open !== undefined && { open }) }, replace: true });
  return (
    <ListScreen
      title="Inbox"
      lead="Messages of notifications without an account. They stay here and are not sent."
      tabs={<LiveLine workspace={w} />}
      what="messages"
      label="Messages"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      filters={[
        { search: 'Address, or its beginning', value: recipient ?? '', onFind: (word) => find({ recipient: word }) },
        {
          menu: 'Channel',
          options: CHANNEL_CHOICES,
          value: channel ?? ANY,
          onChoose: (id) => find({ channel: id === ANY ? '' : id }),
        },
      ]}
      open={open ?? null}
      onOpen={show}
      onClose={() => void navigate({ search: filter, replace: true })}
      panelLabel="Message"
      renderPanel={({ key: id, onClose }) => (
        <Part loading={<Loading what="the message" />}>
          <MessagePanel
            key={id}
            id={id}
            view={view}
            onView={(next) => void navigate({ search: { ...filter, open: id, view: next }, replace: true })}
            onClose={onClose}
          />
        </Part>
      )}
      renderEmpty={() =>
        isFiltered ? (
          <Empty
            title="No message matches"
            action={<Button onPress={() => find({ recipient: '', channel: '' })}>Show all messages</Button>}
          >
            Filter: {Object.values(filter).join(', ')}.
          </Empty>
        ) : (
          <Empty title="No messages yet">
            Messages of notifications without an account appear here as their readers would see them. Send an event that
            fires a rule.
          </Empty>
        )
      }
    />
  );
}
