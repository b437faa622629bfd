import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { CameIn } from '../deliveries/contents.tsx';
import { ChangeLine } from '../sources/change-line.tsx';
import { NoRowsBefore } from '../sources/row-before.tsx';
import { newestEventsQuery } from '../rule/queries.ts';
import type { From } from './from-settings.tsx';
import styles from './streams.module.css';

/** Newest events of a stream, each with its body as it came, or why that is gone. The list follows by itself. */
export function NewestEvents({
  workspace,
  path,
  from,
}: {
  readonly workspace: string;
  readonly path: string;
  /** The tables or topics that the stream reads. Undefined if senders post to it. */
  readonly from?: From;
}): ReactNode {
  const title = from?.tables ? 'Newest changes' : 'Newest events';
  const { data, error, refetch } = useQuery(newestEventsQuery(workspace, path));
  const bodies = useMay('bodies', workspace);
  return (
    <Card title={title}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="events" rows={4} />}
      {data?.items.length === 0 && from?.topics && (
        <p role="status">
          No record was read yet. Carillon reads a topic from its end, so older records do not appear. This list updates
          every five seconds.
        </p>
      )}
      {data?.items.length === 0 && from?.tables && (
        <p role="status">
          No change was read yet. Change a row of a table, such as by an UPDATE in psql. This list updates every five
          seconds.
        </p>
      )}
      {data?.items.length === 0 && !from && (
        <>
          <p role="status">No event yet. This list updates every five seconds.</p>
          <p className={cls(styles.note)}>
            Check that the sender posts to the URL above, with an allowed key or token, as application/json. Refused
            events are not listed: the response to the sender has the reason.
          </p>
        </>
      )}
      {from?.tables && <NoRowsBefore workspace={workspace} stream={path} />}
      {data && data.items.length > 0 && (
        <ol aria-label={title} className={cls(styles.events)}>
          {data.items.map(({ id, position, at, bytes, label, change }) => (
            <li key={`${id} ${position}`}>
              <p className={cls(styles.event)}>
                <Time at={at} ago />
                <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id }}>
                  <Id>{id}</Id>
                </Link>
                <small>
                  {label === null || label === '' ? `${bytes.toLocaleString('en')} bytes` : <bdi>{label}</bdi>}
                </small>
              </p>
              {change !== null && <ChangeLine change={change} />}
              {bodies === null && <CameIn workspace={workspace} id={id} position={position} />}
            </li>
          ))}
        </ol>
      )}
      {bodies !== null && <p className={cls(styles.note)}>Bodies of events are hidden. {bodies}</p>}
    </Card>
  );
}
