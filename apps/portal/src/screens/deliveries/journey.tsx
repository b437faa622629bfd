import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { useNow } from '../../ui/now.ts';
import { spanWords } from '../../ui/time-words.ts';
import { gapsOf, legsOf, placeOf, type Gap, type Leg } from './journey-legs.ts';
import styles from './journey.module.css';
import type { Delivery, Trace } from './queries.ts';

/** The steps of a delivery, drawn with their durations and texts. */
export function Journey({ delivery, trace }: { readonly delivery: Delivery; readonly trace: Trace }): ReactNode {
  const now = useNow();
  const eventAt = trace.steps.find(({ step }) => step === 'event')?.at ?? null;
  const legs = legsOf(delivery, eventAt, now);
  const gaps = gapsOf(legs);
  const begin = legs[0]?.from ?? 0;
  return (
    <ol aria-label="Journey" className={cls(styles.journey)}>
      {legs.map((leg, place) => (
        <li key={`${place} ${leg.name}`} className={cls(styles.leg)}>
          <span>
            {leg.name} {leg.words !== '' && <small>{leg.words}</small>}
          </span>
          <Lane leg={leg} gaps={gaps} />
          <span className={cls(styles.when)}>
            {leg.to > leg.from ? spanWords(leg.to - leg.from) : `+${spanWords(leg.from - begin)}`}
          </span>
        </li>
      ))}
    </ol>
  );
}

const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;

function Lane({ leg, gaps }: { readonly leg: Leg; readonly gaps: readonly Gap[] }): ReactNode {
  const [from, to] = [placeOf(leg.from, gaps), placeOf(leg.to, gaps)];
  const folded = gaps.filter((gap) => gap.isFolded && gap.from >= leg.from && gap.to <= leg.to);
  return (
    <svg className={cls(styles.lane)} aria-hidden>
      <line x1="0" x2="100%" y1="8" y2="8" className={cls(styles.axis)} />
      {to > from ? (
        <rect x={percent(from)} width={percent(to - from)} y="4" height="8" rx="4" className={cls(styles[leg.tone])} />
      ) : (
        <circle cx={percent(from)} cy="8" r="4" className={cls(styles[leg.tone])} />
      )}
      {folded.map(({ start, width }) => (
        <line
          key={start}
          x1={percent(start + width / 2)}
          x2={percent(start + width / 2 + 0.01)}
          y1="14"
          y2="2"
          className={cls(styles.fold)}
        />
      ))}
    </svg>
  );
}
