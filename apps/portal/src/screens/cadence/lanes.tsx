import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { useNow } from '../../ui/now.ts';
import { useZone } from '../../ui/zone.ts';
import { momentWords } from '../../ui/time-words.ts';
import { messageWords, personWords, placeIn } from './run-words.ts';
import type { Message, Person } from './simulate.ts';
import styles from './cadence.module.css';

/** In units of the drawing. */
const [WIDE, HIGH, MIDDLE] = [600, 20, 10] as const;

/** The people whom a cadence changes most, each a lane of the week; a lane opens into its messages in words. */
export function Lanes({
  people,
  from,
  to,
}: {
  readonly people: readonly Person[];
  readonly from: string;
  readonly to: string;
}): ReactNode {
  const zone = useZone();
  const now = useNow();
  const time = (at: string): string => momentWords(new Date(at), new Date(now), zone);
  return (
    <ol aria-label="The most affected people" className={cls(styles.lanes)}>
      {people.map(({ person, messages, more }, index) => {
        const name = person ?? `Person ${index + 1}`;
        return (
          <li key={`${name} ${messages[0]?.delivery_id ?? index}`}>
            <details>
              <summary className={cls(styles.lane)}>
                <bdi className={cls(styles.person)}>{name}</bdi>
                <svg
                  role="img"
                  aria-label={`${personWords(messages)}${more > 0 ? `, and ${more} more` : ''}`}
                  viewBox={`0 0 ${WIDE} ${HIGH}`}
                  preserveAspectRatio="none"
                >
                  <line className={cls(styles.axis)} x1={0} x2={WIDE} y1={MIDDLE} y2={MIDDLE} />
                  {messages.map((message) => (
                    <Mark key={message.delivery_id} message={message} from={from} to={to} />
                  ))}
                </svg>
              </summary>
              <ul className={cls(styles.told)}>
                {messages.map((message) => (
                  <li key={message.delivery_id}>{messageWords(message, time)}</li>
                ))}
                {more > 0 && <li>and {more} more</li>}
              </ul>
            </details>
          </li>
        );
      })}
    </ol>
  );
}

/** At once: a bar. Held: a line to where it goes. In a digest: the same, ended by a block. Dropped: a short, low bar. */
function Mark({
  message,
  from,
  to,
}: {
  readonly message: Message;
  readonly from: string;
  readonly to: string;
}): ReactNode {
  const { caused_at: caused, at, fate } = message;
  const [begin, end] = [placeIn(caused, from, to) * WIDE, placeIn(at, from, to) * WIDE];
  if (fate === 'sent') return <rect className={cls(styles.went)} x={begin - 1.5} width={3} y={3} height={14} />;
  if (fate === 'dropped') {
    return (
      <g className={cls(styles.cross)}>
        <line x1={begin - 4} x2={begin + 4} y1={5} y2={15} />
        <line x1={begin - 4} x2={begin + 4} y1={15} y2={5} />
      </g>
    );
  }
  return (
    <g>
      <line className={cls(styles.waits)} x1={begin} x2={end} y1={MIDDLE} y2={MIDDLE} />
      <rect
        className={cls(fate === 'held' ? styles.held : styles.digest)}
        x={end - (fate === 'held' ? 1.5 : 4)}
        width={fate === 'held' ? 3 : 8}
        y={fate === 'held' ? 3 : 5}
        height={fate === 'held' ? 14 : 10}
      />
    </g>
  );
}
