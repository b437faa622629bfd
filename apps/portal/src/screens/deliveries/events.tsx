import { useParams } from '@tanstack/react-router';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useLiveList } from '../../api/live-list.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { LiveRows } from '../../ui/live-rows.tsx';
import { useMedia } from '../../ui/media.ts';
import { PageHead } from '../../ui/page.tsx';
import { Split } from '../../ui/split.tsx';
import { RowCells } from '../../ui/row-cells.tsx';
import { Time } from '../../ui/time.tsx';
import { Queues } from './queues.tsx';

type Event = Schemas['Event'];
const keyOf = ({ id, position }: Event): string => `${id} ${position}`;
const row = (event: Event): ReactNode => (
  <RowCells
    what={`${event.workspace}/${event.stream}`}
    who={event.id}
    about={`${event.bytes.toLocaleString('en')} bytes`}
    time={<Time at={event.at} ago />}
  />
);

/** Everything that came in, fired or not. */
export function Events(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/events' });
  const navigate = useNavigate();
  const load = useMemo(
    () => (cursor: string | null, signal: AbortSignal) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/events', {
          params: { path: { workspace: w }, query: { limit: 50, ...(cursor !== null && { cursor }) } },
          signal,
        }),
      ),
    [w],
  );
  const followed = { workspace: w, topic: 'events' } as const;
  const list = useLiveList('/v1/workspaces/{workspace}/events', w, load, keyOf, followed);
  const { items, error, retry } = list;
  const isPhone = useMedia('(max-width: 640px)');
  const show = useCallback(
    (key: string) => void navigate({ to: '/workspaces/$w/events/$id', params: { w, id: key.split(' ')[0] ?? key } }),
    [navigate, w],
  );
  return (
    <>
      <PageHead title="Events" lead="Everything that came in, whether a rule fired or not." />
      <Queues workspace={w} />
      <Split
        panelLabel="Story"
        panel={null}
        list={
          <>
            {error && <Problem error={error} onRetry={retry} />}
            {!items && !error && <Loading what="events" />}
            {items?.length === 0 && (
              <Empty title="No event came yet">
                Events come in at the address of a stream, with an API key or a token. What was refused never gets here:
                the answer says why.
              </Empty>
            )}
            {items !== undefined && items.length > 0 && (
              <LiveRows
                list={list}
                label="Events"
                items={items}
                keyOf={keyOf}
                row={row}
                rowHeight={isPhone ? 64 : 40}
                chosen={null}
                onOpen={show}
              />
            )}
          </>
        }
      />
    </>
  );
}
