import type { Measure } from './harness/bench.ts';
import type { CaseResult, SideResult } from './harness/results.ts';
import { spreadIn, type Spread } from './harness/statistics.ts';

/** Greys and colours in the middle: they can be read on white and on black, since an image does not know its page. */
const INK = '#76808c';
const GRID = '#76808c55';
const COLOURS = ['#2f81f7', '#d2691e', '#2da44e', '#a371f7', '#bf8700', '#cf5b7c'] as const;
const WIDTH = 720;
const FONT = 'font-family="system-ui, sans-serif" font-size="12"';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const text = (x: number, y: number, what: string, anchor: 'start' | 'middle' | 'end' = 'start'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${INK}">${escaped(what)}</text>`;
const line = (x1: number, y1: number, x2: number, y2: number, colour: string): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${colour}"/>`;
const svg = (height: number, title: string, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}" ${FONT}>
${parts.join('\n')}
</svg>
`;

/** Three digits, or whole where there are more. */
export const shortNumber = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));

export const MEASURED_IN: Readonly<Record<Measure, (counted: string) => string>> = {
  rate: (counted) => `${counted} per second`,
  seconds: () => 'seconds',
  cpu: (counted) => `CPU seconds per 1,000 ${counted}`,
  memory: () => 'resident memory, MiB',
  wal: () => 'write-ahead log, MiB',
  p50: () => 'median delay, ms',
  p95: () => 'p95 of the delay, ms',
  p99: () => 'p99 of the delay, ms',
  max: () => 'longest delay, ms',
  stretch: () => 'longest delay, in medians',
};

/** Such as 1, 2, 5, 10: the next round number that is not smaller. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999_999) ?? value;
}

type Point = { readonly side: SideResult; readonly spread: Spread };

function bars(result: CaseResult, measure: Measure, points: readonly Point[]): string {
  const title = `${result.title}: ${MEASURED_IN[measure](result.counted)}`;
  const left = 230;
  const top = 34;
  const row = 30;
  const scale = (WIDTH - left - 90) / Math.max(...points.map(({ spread }) => spread.max));
  const rows = points.flatMap(({ side, spread }, index) => {
    const y = top + index * row;
    const end = left + spread.max * scale;
    return [
      text(left - 8, y + 14, side.name, 'end'),
      `<rect x="${left}" y="${y}" width="${(spread.median * scale).toFixed(1)}" height="20" fill="${COLOURS[index % COLOURS.length]}"/>`,
      line(left + spread.min * scale, y + 10, end, y + 10, INK),
      text(end + 6, y + 14, shortNumber(spread.median)),
    ];
  });
  return svg(top + points.length * row + 4, title, [text(4, 18, title), ...rows]);
}

/** Both axes logarithmic: what grows in proportion is a straight line. */
function lines(result: CaseResult, over: string, measure: Measure, points: readonly Point[]): string {
  const title = `${result.title}: ${MEASURED_IN[measure](result.counted)}`;
  const [left, right, top, bottom, height] = [80, WIDTH - 150, 40, 300, 340] as const;
  const at = ({ side }: Point): number => side.at ?? 1;
  const span = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];
  const [xMin, xMax] = span(points.map(at));
  const [low, high] = span(points.flatMap(({ spread }) => [spread.min, spread.max]));
  const yMax = roundUp(high);
  // At least a decade, so that noise does not look like a slope.
  const yMin = Math.min(low, yMax / 10);
  const place = (value: number, min: number, max: number): number => Math.log(value / min) / Math.log(max / min || 10);
  const x = (value: number): number => left + (xMax > xMin ? place(value, xMin, xMax) : 0.5) * (right - left);
  const y = (value: number): number => bottom - place(value, yMin, yMax) * (bottom - top);
  const ticks = Array.from({ length: 12 }, (_, index) => yMax / 10 ** index).filter((value) => value >= yMin);
  const names = [...new Set(points.map(({ side }) => side.line ?? ''))];
  return svg(height, title, [
    text(4, 18, title),
    ...ticks.flatMap((value) => [
      line(left, y(value), right, y(value), GRID),
      text(left - 8, y(value) + 4, shortNumber(value), 'end'),
    ]),
    ...[...new Set(points.map(at))].map((value) => text(x(value), bottom + 18, shortNumber(value), 'middle')),
    text((left + right) / 2, height - 4, over, 'middle'),
    ...names.flatMap((name, index) => {
      const colour = COLOURS[index % COLOURS.length] ?? INK;
      const own = points.filter(({ side }) => (side.line ?? '') === name).toSorted((a, b) => at(a) - at(b));
      const path = own.map((point) => `${x(at(point)).toFixed(1)},${y(point.spread.median).toFixed(1)}`).join(' ');
      const last = own.at(-1);
      return [
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...own.flatMap((point) => [
          line(x(at(point)), y(point.spread.min), x(at(point)), y(point.spread.max), colour),
          `<circle cx="${x(at(point)).toFixed(1)}" cy="${y(point.spread.median).toFixed(1)}" r="3.5" fill="${colour}"/>`,
        ]),
        ...(last ? [text(x(at(last)) + 10, y(last.spread.median) + 4, name)] : []),
      ];
    }),
  ]);
}

/** Memory of each process from round to round, both axes from zero. */
function courses(result: CaseResult, names: readonly string[]): string {
  const title = `${result.title}: resident memory, MiB`;
  const [left, right, top, bottom, height] = [80, WIDTH - 150, 40, 300, 340] as const;
  const lanes = result.sides.flatMap(({ rounds }) =>
    names.map((name) => ({ name, values: rounds.flatMap(({ memory }) => memory[name] ?? []) })),
  );
  const most = Math.max(1, ...lanes.flatMap(({ values }) => values));
  const count = Math.max(1, ...lanes.map(({ values }) => values.length));
  const x = (round: number): number => left + (round / count) * (right - left);
  const y = (value: number): number => bottom - (value / most) * (bottom - top);
  return svg(height, title, [
    text(4, 18, title),
    ...[0, most / 2, most].flatMap((value) => [
      line(left, y(value), right, y(value), GRID),
      text(left - 8, y(value) + 4, shortNumber(value), 'end'),
    ]),
    text(left, bottom + 18, '0', 'middle'),
    text(right, bottom + 18, shortNumber(count), 'middle'),
    text((left + right) / 2, height - 4, `rounds of ${result.pace?.seconds ?? ''} s`, 'middle'),
    ...lanes.flatMap(({ name, values }, index) => {
      const colour = COLOURS[index % COLOURS.length] ?? INK;
      const path = values.map((value, round) => `${x(round + 1).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
      const last = values.at(-1);
      return [
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...(last === undefined ? [] : [text(x(values.length) + 10, y(last) + 4, name)]),
      ];
    }),
  ]);
}

/** The chart of a case, as SVG; null where fewer than two sides have something to show. */
export function chartOf(result: CaseResult): string | null {
  const { growth, comparisons, memoryOf } = result;
  if (memoryOf) {
    const shown = result.sides.filter(({ faults, rounds }) => faults.length === 0 && rounds.length > 1);
    return shown.length === 0 ? null : courses({ ...result, sides: shown }, memoryOf);
  }
  const measure = growth?.measure ?? comparisons[0]?.measure ?? 'rate';
  const points = result.sides.flatMap((side): Point[] => {
    const spread = side.faults.length > 0 ? null : spreadIn(side, measure);
    return spread ? [{ side, spread }] : [];
  });
  if (points.length < 2) return null;
  return growth ? lines(result, growth.over, measure, points) : bars(result, measure, points);
}
