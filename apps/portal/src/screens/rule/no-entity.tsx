import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { streamsQuery } from '../streams/queries.ts';
import { keepsState } from './entity.ts';
import { startedByEvents } from './rule-start.ts';
import type { StateCardProps } from './rule-props.ts';
import styles from './rule.module.css';

/** Streams that are offered; a list of all is above. */
const MAX_OFFERED = 3;

/** Why the rule cannot look at earlier events, and event streams on which it could. */
export function NoEntity({
  draft,
  off,
  what,
  isUsed,
  change,
}: StateCardProps & {
  readonly off: string;
  /** What the rule cannot do: `wait`. */
  readonly what: string;
  /** The rule has keys of the card, so that it cannot be published. */
  readonly isUsed: boolean;
}): ReactNode {
  const { workspace } = draft;
  const streams = useQuery(streamsQuery(workspace)).data?.items ?? [];
  const usable = streams.filter(({ body }) => keepsState(body)).slice(0, MAX_OFFERED);
  return (
    <div role="note" className={cls(isUsed ? styles.warnings : styles.offer)}>
      <p>
        {off} To {what}, a rule has to know which events are about the same order, user or device.
        {usable.length === 0 && (
          <>
            {' '}
            Create a stream with a key, such as event.order_id, under{' '}
            <Link to="/workspaces/$w/streams" params={{ w: workspace }}>
              Event streams
            </Link>
            .
          </>
        )}
      </p>
      {usable.length > 0 && (
        <div className={cls(styles.tools)}>
          {usable.map(({ name, body }) => (
            <Button key={name} onPress={() => change((before) => startedByEvents(before, name))}>
              Use {name}
              {body.key !== undefined && `, with the key ${body.key}`}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}
