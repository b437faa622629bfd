import { useRef, useState, type PointerEvent, type ReactNode } from 'react';
import { cls } from './class-names.ts';
import { useNow } from './now.ts';
import { TONES, type Tone } from './state-words.ts';
import { dayOf, momentWords } from './time-words.ts';
import { useZone } from './zone.ts';
import styles from './bars.module.css';

/** One bar: how many of each kind between two moments, in milliseconds. */
export type Bar = {
  readonly from: number;
  readonly to: number;
  readonly counts: Readonly<Partial<Record<Tone, number>>>;
};

export type BarsProps = {
  /** One sentence that says what the bars say: it is read out in their place. */
  readonly summary: string;
  readonly bars: readonly Bar[];
  /** What each kind is called in the table. */
  readonly names: Readonly<Partial<Record<Tone, string>>>;
  /** Where a part of the span can be chosen: by dragging over it, and by a button in each row of the table. */
  readonly onRange?: (from: number, to: number) => void;
  /** Each bar is a day in UTC, named by its date. Defaults to moments in the time zone of the workspace. */
  readonly isByDay?: boolean;
};

const HEIGHT = 64;
const WIDTH = 600;
/** In units of the drawing: between two bars, and between two kinds in one. */
const GAP = 2;
const SEAM = 1;
/** So high is one of anything at least: it has to be seen. */
const LEAST = 2;

const totalOf = ({ counts }: Bar): number => TONES.reduce((sum, tone) => sum + (counts[tone] ?? 0), 0);

/** Counts over time as stacked bars, each kind in its colour, always in one order; the same as a table below. */
export function Bars({ summary, bars, names, onRange, isByDay = false }: BarsProps): ReactNode {
  const most = Math.max(1, ...bars.map(totalOf));
  const [held, setHeld] = useState<readonly [from: number, to: number] | null>(null);
  const begun = useRef<number | null>(null);
  const step = WIDTH / Math.max(1, bars.length);
  const placeOf = (event: PointerEvent): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const place = Math.floor(((event.clientX - left) / Math.max(1, width)) * bars.length);
    return Math.max(0, Math.min(bars.length - 1, place));
  };
  const drag = onRange && {
    onPointerDown(event: PointerEvent) {
      event.currentTarget.setPointerCapture(event.pointerId);
      begun.current = placeOf(event);
      setHeld([begun.current, begun.current]);
    },
    onPointerMove(event: PointerEvent) {
      if (begun.current === null) return;
      const place = placeOf(event);
      setHeld([Math.min(begun.current, place), Math.max(begun.current, place)]);
    },
    onPointerUp() {
      const [first, last] = held ?? [];
      begun.current = null;
      setHeld(null);
      const [from, to] = [bars[first ?? -1]?.from, bars[last ?? -1]?.to];
      if (from !== undefined && to !== undefined) onRange(from, to);
    },
    onPointerCancel() {
      begun.current = null;
      setHeld(null);
    },
  };
  return (
    <figure className={cls(styles.bars)}>
      <svg
        role="img"
        aria-label={summary}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={cls(onRange && styles.brushed)}
        {...drag}
      >
        {held && (
          <rect
            x={held[0] * step}
            width={(held[1] - held[0] + 1) * step}
            y={0}
            height={HEIGHT}
            className={cls(styles.chosen)}
          />
        )}
        {bars.map((bar, place) => (
          <Stack key={bar.from} bar={bar} x={place * step} width={Math.max(1, step - GAP)} most={most} />
        ))}
      </svg>
      <Axis bars={bars} isByDay={isByDay} />
      <AsTable bars={bars} names={names} onRange={onRange} isByDay={isByDay} />
    </figure>
  );
}

type StackProps = { readonly bar: Bar; readonly x: number; readonly width: number; readonly most: number };

function Stack({ bar, x, width, most }: StackProps): ReactNode {
  let top = HEIGHT;
  return TONES.map((tone) => {
    const count = bar.counts[tone] ?? 0;
    if (count === 0) return null;
    const height = Math.max(LEAST, (count / most) * (HEIGHT - 2 * LEAST));
    top -= height;
    return (
      <rect
        key={tone}
        x={x}
        y={Math.max(0, top)}
        width={width}
        height={Math.max(1, height - SEAM)}
        className={cls(styles[tone])}
      />
    );
  });
}

const dateOf = (at: number): string => dayOf(new Date(at), 'UTC');

function Axis({ bars, isByDay }: Pick<BarsProps, 'bars'> & { readonly isByDay: boolean }): ReactNode {
  const zone = useZone();
  const now = new Date(useNow());
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return null;
  return (
    <div className={cls(styles.axis)} aria-hidden>
      <span>{isByDay ? dateOf(first.from) : momentWords(new Date(first.from), now, zone)}</span>
      <span>{isByDay ? dateOf(last.from) : momentWords(new Date(last.to), now, zone)}</span>
    </div>
  );
}

function AsTable({
  bars,
  names,
  onRange,
  isByDay,
}: Pick<BarsProps, 'bars' | 'names'> & {
  readonly onRange: BarsProps['onRange'] | undefined;
  readonly isByDay: boolean;
}): ReactNode {
  const zone = useZone();
  const [isOpen, setOpen] = useState(false);
  const tones = TONES.filter((tone) => bars.some(({ counts }) => (counts[tone] ?? 0) > 0));
  const filled = bars.filter((bar) => totalOf(bar) > 0);
  const now = new Date(useNow());
  return (
    <details className={cls(styles.table)} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as table</summary>
      {isOpen && filled.length === 0 && <p>Nothing in this period.</p>}
      {isOpen && filled.length > 0 && (
        <div className={cls(styles.scroll)} tabIndex={0} role="group" aria-label="The bars as a table">
          <table>
            <thead>
              <tr>
                <th scope="col">{isByDay ? 'Day (UTC)' : 'From'}</th>
                {tones.map((tone) => (
                  <th key={tone} scope="col">
                    {names[tone] ?? tone}
                  </th>
                ))}
                {onRange && <th scope="col">Show</th>}
              </tr>
            </thead>
            <tbody>
              {filled.map((bar) => {
                const words = isByDay ? dateOf(bar.from) : momentWords(new Date(bar.from), now, zone);
                return (
                  <tr key={bar.from}>
                    <th scope="row">{words}</th>
                    {tones.map((tone) => (
                      <td key={tone}>{(bar.counts[tone] ?? 0).toLocaleString('en')}</td>
                    ))}
                    {onRange && (
                      <td>
                        <button
                          type="button"
                          onClick={() => onRange(bar.from, bar.to)}
                          aria-label={`Show only this period: ${words}`}
                        >
                          Show only this period
                        </button>
                      </td>
                    )}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
