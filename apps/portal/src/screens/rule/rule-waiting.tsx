import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Time } from '../../ui/time.tsx';
import { waitingQuery } from './queries.ts';

/** Entities are counted up to this number. */
const MAX_COUNTED = 10_000;

/** How many entities wait by the published rule, and the next deadline. Empty for a rule that does not wait or is not published. */
export function RuleWaiting({
  workspace,
  title,
  stream,
}: {
  readonly workspace: string;
  readonly title: string;
  /** Name of the stream without its workspace. Undefined for a cohort. */
  readonly stream: string | undefined;
}): ReactNode {
  const { data } = useQuery(waitingQuery(workspace, title));
  if (!data?.can_wait) return null;
  const { entities, next_deadline: next } = data;
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
