import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useLiveList } from '../../api/live-list.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { LiveLine } from '../../ui/live-line.tsx';
import { LiveRows } from '../../ui/live-rows.tsx';
import { PageHead } from '../../ui/page.tsx';
import { Split } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { MessagePanel } from './message.tsx';
import { channelWords, titleOf, type Message } from './message-words.ts';
import styles from './inbox.module.css';

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

/** What the built-in sandbox kept instead of sending it. */
export function Inbox(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, view } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const load = useMemo(
    () => (cursor: string | null, signal: AbortSignal) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/inbox', {
          params: { path: { workspace: w }, query: { limit: 50, ...(cursor !== null && { cursor }) } },
          signal,
        }),
      ),
    [w],
  );
  const list = useLiveList('/v1/inbox', w, load, keyOf, { workspace: w, topic: 'inbox' });
  const { items: shown, error, retry } = list;
  const show = useCallback(
    (id: string) => void navigate({ search: { open: id }, replace: open !== undefined }),
    [navigate, open],
  );
  const close = (): void => {
    void navigate({ search: {}, replace: true });
    requestAnimationFrame(() => document.querySelector<HTMLElement>('main [data-key][tabindex="0"]')?.focus());
  };
  return (
    <>
      <PageHead title="Inbox" lead="Messages of notifications without an account come here instead of going out." />
      <LiveLine workspace={w} />
      <Split
        panelLabel="Message"
        panel={
          open === undefined ? null : (
            <MessagePanel
              key={open}
              id={open}
              view={view}
              onView={(next) => void navigate({ search: { open, view: next }, replace: true })}
              onClose={close}
            />
          )
        }
        list={
          <>
            {error && <Problem error={error} onRetry={retry} />}
            {!shown && !error && <Loading what="messages" />}
            {shown?.length === 0 && (
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
