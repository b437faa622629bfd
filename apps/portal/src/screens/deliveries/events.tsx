import { useNavigate, useParams } from '@tanstack/react-router';
import { useCallback, useMemo, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useLiveList } from '../../api/live-list.ts';
import { Empty } from '../../ui/answers.tsx';
import { ListScreen, type Columns } from '../../ui/list-screen.tsx';
import { Time } from '../../ui/time.tsx';
import { Queues } from './queues.tsx';

type Event = Schemas['Event'];
const keyOf = ({ id, position }: Event): string => `${id} ${position}`;
const COLUMNS: Columns<Event> = {
  what: ({ workspace, stream }) => `${workspace}/${stream}`,
  who: ({ id }) => id,
  about: ({ bytes }) => `${bytes.toLocaleString('en')} bytes`,
  time: ({ at }) => <Time at={at} ago />,
};

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
  const show = useCallback(
    (key: string) => void navigate({ to: '/workspaces/$w/events/$id', params: { w, id: key.split(' ')[0] ?? key } }),
    [navigate, w],
  );
  return (
    <ListScreen
      title="Events"
      lead="All accepted events, whether a rule fired or not."
      tabs={<Queues workspace={w} />}
      what="events"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      open={null}
      onOpen={show}
      panelLabel="Story"
      renderEmpty={() => (
        <Empty title="No events yet">
          Send events to the URL of a stream, with an API key or a token. Refused events are not listed: the response to
          the sender has the reason.
        </Empty>
      )}
    />
  );
}
