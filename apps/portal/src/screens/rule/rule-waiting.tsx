import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Time } from '../../ui/time.tsx';
import { waitingQuery } from './queries.ts';

/** Entities are counted up to this number. */
const MAX_COUNTED = 10_000;

type Waiting = Schemas['RuleWaiting'];
type Place = {
  readonly workspace: string;
  /** Name of the stream without its workspace. Undefined for a cohort. */
  readonly stream: string | undefined;
};

/** Entities that wait by the published rule, and late events of its stream. Empty if the rule is not published. */
export function RuleWaiting({ title, ...place }: Place & { readonly title: string }): ReactNode {
  const { data } = useQuery(waitingQuery(place.workspace, title));
  if (!data) return null;
  return (
    <>
      {data.can_wait && <WaitingEntities {...place} waiting={data} />}
      {data.late_events !== null && data.late_events.count > 0 && <LateEvents late={data.late_events} />}
    </>
  );
}

function LateEvents({ late: { count, complete } }: { readonly late: NonNullable<Waiting['late_events']> }): ReactNode {
  return (
    <p>
      {!complete && 'At least '}
      {count.toLocaleString('en')} {count === 1 ? 'event' : 'events'} of the last day came more than the grace of the
      stream after {count === 1 ? 'its' : 'their'} time.
    </p>
  );
}

function WaitingEntities({ workspace, stream, waiting }: Place & { readonly waiting: Waiting }): ReactNode {
  const { entities, next_deadline: next } = waiting;
  if (entities === 0) return <p>This rule has no waiting entities.</p>;
  const count = `${entities.toLocaleString('en')}${entities >= MAX_COUNTED ? ' or more' : ''}`;
  return (
    <p>
      {count} {entities === 1 ? 'entity waits' : 'entities wait'} by this rule
      {next !== null && (
        <>
          {' '}
          (next deadline: <Time at={next} />)
        </>
      )}
      .{' '}
      {stream !== undefined && (
        <Link to="/workspaces/$w/streams/$s" params={{ w: workspace, s: stream }}>
          Show the state of one, or forget it
        </Link>
      )}
    </p>
  );
}
