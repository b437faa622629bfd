import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { useZone } from '../../ui/zone.ts';
import { byDay, runSentence } from './run-words.ts';
import type { Run, Simulated } from './simulate.ts';
import styles from './cadence.module.css';

/** Width of an hour's bar and maximum height, in units of the drawing. */
const [BAR, HEIGHT] = [4, 64] as const;

/** Before and after, one above the other on one scale. */
export function Week({ simulated }: { readonly simulated: Simulated }): ReactNode {
  const { now, proposed } = simulated;
  const zone = useZone();
  const runs = proposed ? [now, proposed] : [now];
  const most = Math.max(1, ...runs.flatMap(({ buckets }) => buckets.map(({ went, dropped }) => went + dropped)));
  return (
    <figure className={cls(styles.week)}>
      <Bars title={proposed ? 'Before' : 'As published'} run={now} most={most} />
      {proposed && <Bars title="After" run={proposed} most={most} />}
      <Days buckets={now.buckets} />
      <details>
        <summary>Show as table</summary>
        <div className={cls(styles.scroll)} tabIndex={0} role="group" aria-label="Messages by day">
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col">Events</th>
                <th scope="col">Sent{proposed && ', before'}</th>
                <th scope="col">Dropped{proposed && ', before'}</th>
                {proposed && <th scope="col">Sent, after</th>}
                {proposed && <th scope="col">Dropped, after</th>}
              </tr>
            </thead>
            <tbody>
              {byDay(now.buckets, zone).map(({ day, came, went, dropped }, index) => {
                const after = proposed && byDay(proposed.buckets, zone)[index];
                return (
                  <tr key={day}>
                    <th scope="row">{day}</th>
                    <td>{came}</td>
                    <td>{went}</td>
                    <td>{dropped}</td>
                    {proposed && <td>{after?.went ?? 0}</td>}
                    {proposed && <td>{after?.dropped ?? 0}</td>}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Bars({ title, run, most }: { readonly title: string; readonly run: Run; readonly most: number }): ReactNode {
  const { buckets } = run;
  const tall = (count: number): number => (count * HEIGHT) / most;
  return (
    <div className={cls(styles.bars)}>
      <span className={cls(styles.title)}>{title}</span>
      <svg
        role="img"
        aria-label={`${title}: ${runSentence(run)}`}
        viewBox={`0 0 ${Math.max(1, buckets.length) * BAR} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {buckets.map(({ at, went, dropped }, index) => (
          <g key={at}>
            <rect
              className={cls(styles.went)}
              x={index * BAR}
              width={BAR - 1}
              y={HEIGHT - tall(went)}
              height={tall(went)}
            />
            <rect
              className={cls(styles.dropped)}
              x={index * BAR}
              width={BAR - 1}
              y={HEIGHT - tall(went + dropped)}
              height={tall(dropped)}
            />
          </g>
        ))}
      </svg>
    </div>
  );
}

const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', timeZone: 'UTC' });

function Days({ buckets }: { readonly buckets: Run['buckets'] }): ReactNode {
  const zone = useZone();
  return (
    <div className={cls(styles.days)} aria-hidden>
      {byDay(buckets, zone).map(({ day }) => (
        <span key={day}>{WEEKDAY.format(new Date(day))}</span>
      ))}
    </div>
  );
}
