import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { countsOf, type Insights } from './queries.ts';
import styles from './delivery-chart.module.css';

const ORDER = ['sent', 'waiting', 'held', 'failed', 'doubt'] as const;
const WIDTH = 600;
const HEIGHT = 64;
/** In pixels: between two bars. */
const GAP = 2;

/** Deliveries over the span, hour by hour, each bar by what became of them. */
export function DeliveryChart({ buckets }: { readonly buckets: Insights['buckets'] }): ReactNode {
  const counts = buckets.map(({ at, states }) => ({ at, of: countsOf(states) }));
  const totals = counts.map(({ of }) => ORDER.reduce((sum, key) => sum + of[key], 0));
  const most = Math.max(...totals, 0);
  if (most === 0) return <p>Nothing was sent or held back.</p>;
  const all = totals.reduce((sum, one) => sum + one, 0);
  const step = WIDTH / counts.length;
  return (
    <figure className={cls(styles.chart)}>
      <svg
        role="img"
        aria-label={`${all} deliveries in 24 hours, at most ${most} in one hour`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {counts.map(({ at, of }, place) => {
          let top = HEIGHT;
          return ORDER.map((key) => {
            if (of[key] === 0) return null;
            const height = Math.max(1.5, (of[key] / most) * (HEIGHT - 4));
            top -= height;
            return (
              <rect
                key={`${at} ${key}`}
                x={place * step}
                y={top}
                width={Math.max(1, step - GAP)}
                height={height}
                className={cls(styles[key])}
              />
            );
          });
        })}
      </svg>
    </figure>
  );
}
