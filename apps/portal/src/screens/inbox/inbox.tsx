import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ChevronsUpDown } from 'lucide-react';
import { useCallback, useMemo, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useLiveList } from '../../api/live-list.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { focusList } from '../../ui/focus-list.ts';
import { LiveLine } from '../../ui/live-line.tsx';
import { LiveRows } from '../../ui/live-rows.tsx';
import { Menu } from '../../ui/menu.tsx';
import { PageHead } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Search } from '../../ui/search.tsx';
import { Split } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { IfAllowed, useUnseen } from '../../ui/if-allowed.tsx';
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

/** What the built-in sandbox kept instead of sending it. */
export function Inbox(): ReactNode {
  const { w } = useParams({ from: FROM });
  const unseen = useUnseen();
  return (
    <>
      <PageHead title="Inbox" lead="Messages of notifications without an account come here instead of going out." />
      <IfAllowed {...unseen}>
        <Messages w={w} />
      </IfAllowed>
    </>
  );
}

function Messages({ w }: { readonly w: string }): ReactNode {
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
  const list = useLiveList('/v1/inbox', `${w} ${JSON.stringify(filter)}`, load, keyOf, followed);
  const { items: shown, error, retry } = list;
  const show = useCallback(
    (id: string) => void navigate({ search: { ...filter, open: id }, replace: open !== undefined }),
    [navigate, open, filter],
  );
  const find = (next: { readonly recipient?: string; readonly channel?: string }): void =>
    void navigate({ search: { ...filter, ...next, ...(open !== undefined && { open }) }, replace: true });
  const close = (): void => {
    void navigate({ search: filter, replace: true });
    focusList();
  };
  return (
    <>
      <LiveLine workspace={w} />
      <Split
        panelLabel="Message"
        panel={
          open === undefined ? null : (
            <Part loading={<Loading what="the message" />}>
              <MessagePanel
                key={open}
                id={open}
                view={view}
                onView={(next) => void navigate({ search: { ...filter, open, view: next }, replace: true })}
                onClose={close}
              />
            </Part>
          )
        }
        list={
          <>
            <div className={cls(styles.tools)}>
              <Search
                label="Address, or its beginning"
                found={recipient ?? ''}
                onFind={(word) => find({ recipient: word })}
              />
              <Menu
                label={`Channel: ${channel === undefined ? 'Any channel' : channelWords(channel)}`}
                trigger={
                  <>
                    {channel === undefined ? 'Any channel' : channelWords(channel)}
                    <ChevronsUpDown size={16} aria-hidden />
                  </>
                }
                choices={CHANNEL_CHOICES}
                chosen={channel ?? ANY}
                onChoose={(id) => find({ channel: id === ANY ? '' : id })}
              />
            </div>
            {error && <Problem error={error} onRetry={retry} />}
            {!shown && !error && <Loading what="messages" />}
            {shown?.length === 0 && isFiltered && (
              <Empty
                title="No message fits"
                action={<Button onPress={() => find({ recipient: '', channel: '' })}>Show all messages</Button>}
              >
                Looked for: {Object.values(filter).join(', ')}.
              </Empty>
            )}
            {shown?.length === 0 && !isFiltered && (
              <Empty title="No message yet">
                Messages of notifications without an account come here, as their readers would see them. Send an event
                that fires a rule, and look again.
              </Empty>
            )}
            {shown !== undefined && shown.length > 0 && (
              <LiveRows
                list={list}
                label="Messages"
                items={shown}
                keyOf={keyOf}
                row={row}
                rowHeight={64}
                chosen={open ?? null}
                onOpen={show}
              />
            )}
          </>
        }
      />
    </>
  );
}
