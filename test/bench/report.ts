import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { chartOf, MEASURED_IN, shortNumber } from './charts.ts';
import { courseOf } from './harness/memory.ts';
import type { BenchResult, CaseResult, SideResult } from './harness/results.ts';
import { isLoadTheLimit, judge, spreadIn, spreadOf, type Judgement, type Spread } from './harness/statistics.ts';

/** What a run was made on and how: it stands above each result. */
export type Circumstances = {
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly rounds: number;
  readonly seconds: number;
};

export function circumstances(rounds: number, seconds: number, now: Date): Circumstances {
  const all = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return {
    date: now.toISOString().slice(0, 10),
    machine: `${all.length} cores (${all[0]?.model.trim() ?? 'unknown'}), ${memory}, ${type()} ${release()}`,
    node: process.version,
    rounds,
    seconds,
  };
}

/** What is said of a bench: its page, and its images by file name. */
export type Section = { readonly text: string; readonly images: ReadonlyMap<string, string> };

const withSpread = ({ median, min, max }: Spread): string =>
  `${shortNumber(median)} (${shortNumber(min)}..${shortNumber(max)})`;
const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** CPU seconds for a thousand done, of each process. */
function cpuText({ rounds }: SideResult): string {
  const names = Object.keys(rounds[0]?.cpu ?? {});
  const perThousand = (name: string): number =>
    spreadOf(rounds.map(({ cpu, done }) => ((cpu[name] ?? Number.NaN) / done) * 1000)).median;
  return names.map((name) => `${name} ${shortNumber(perThousand(name))}`).join(', ');
}

/** What is to be known of the load beside a rate. */
function loadNotes({ rounds }: SideResult): readonly string[] {
  const limited = rounds.filter(isLoadTheLimit).length;
  const offered = rounds.flatMap((round) => round.offered ?? []);
  return [
    ...(offered.length > 0 ? [`offered ${withSpread(spreadOf(offered))}`] : []),
    ...(limited > 0 ? [`**the load was the limit** in ${limited} of ${rounds.length} rounds`] : []),
  ];
}

function sideRow(side: SideResult, hasDelays: boolean): readonly string[] {
  const blank = hasDelays ? ['', '', ''] : [];
  if (side.skipped !== undefined) return [side.name, `skipped: ${side.skipped}`, '', ...blank, side.syncs];
  if (side.faults.length > 0) return [side.name, `**void**: ${side.faults[0]}`, '', ...blank, side.syncs];
  const shown = (measure: Parameters<typeof spreadIn>[1]): string => {
    const spread = spreadIn(side, measure);
    return spread ? withSpread(spread) : '';
  };
  const delays = hasDelays ? [shown('p50'), shown('p99'), shown('max')] : [];
  return [side.name, [shown('rate'), ...loadNotes(side)].join('; '), cpuText(side), ...delays, side.syncs];
}

/** `carillon / closure, evaluations per second`. */
export const comparisonText = ({ comparison }: Judgement, counted: string): string =>
  `${comparison.side}${comparison.to === undefined ? '' : ` ${comparison.by === 'difference' ? '−' : '/'} ${comparison.to}`}, ${MEASURED_IN[comparison.measure](counted)}`;

/** `0.71 (0.68..0.73): floor met`; or why there is no figure. */
export function judgementText(judgement: Judgement): string {
  if ('why' in judgement) return `${judgement.verdict}: ${judgement.why}`;
  const { spread, value, verdict, limited } = judgement;
  const beware = limited.length === 0 ? '' : ` (the load was the limit of ${limited.join(' and ')})`;
  return `${withSpread({ ...spread, median: value })}: ${verdict}${beware}`;
}

function judgementRow(judgement: Judgement, counted: string): readonly string[] {
  const { wanted, floor, goal } = judgement.comparison;
  const bound = (value: number | undefined): string =>
    value === undefined ? '' : `${wanted === 'at least' ? '≥' : '≤'} ${shortNumber(value)}`;
  return [comparisonText(judgement, counted), judgementText(judgement), bound(floor), bound(goal)];
}

/** A row for each process of a soak. */
function courseRows({ sides, memoryOf = [] }: CaseResult): readonly (readonly string[])[] {
  return sides.flatMap(({ rounds, faults }) =>
    memoryOf.flatMap((name) => {
      const own = rounds.map(({ seconds, memory }) => ({ seconds, memory: memory[name] ?? Number.NaN }));
      const course = faults.length > 0 ? null : courseOf(own);
      if (!course) return [];
      const { early, late, slope, isFlat } = course;
      const words = isFlat ? 'flat' : '**grows**';
      return [[name, shortNumber(early), shortNumber(late), `${withSpread(slope)}: ${words}`]];
    }),
  );
}

function caseText(result: CaseResult, image: string | null): string {
  const hasDelays = result.sides.some((side) => spreadIn(side, 'p50') !== null);
  const head = [
    'side',
    `${result.counted} per second`,
    `CPU seconds per 1,000 ${result.counted}`,
    ...(hasDelays ? ['p50, ms', 'p99, ms', 'longest, ms'] : []),
    'forces to disk',
  ];
  const judgements = result.comparisons.map((comparison) => judge(comparison, result));
  const courses = courseRows(result);
  const parts = [
    `## ${result.title}`,
    ...(result.pace ? [`${result.pace.rounds} rounds of ${result.pace.seconds} s.`] : []),
    ...(hasDelays && result.delays !== undefined ? [`The delays are ${result.delays}.`] : []),
    table(
      head,
      result.sides.map((side) => sideRow(side, hasDelays)),
    ),
    ...(judgements.length > 0
      ? [
          table(
            ['compared', 'measured', 'floor', 'goal'],
            judgements.map((one) => judgementRow(one, result.counted)),
          ),
        ]
      : []),
    ...(courses.length > 0
      ? [table(['memory of', 'MiB, second quarter', 'MiB, last quarter', 'MiB an hour (95 %)'], courses)]
      : []),
    ...(image === null ? [] : [`![${result.title}](../images/bench/${image})`]),
  ];
  return parts.join('\n\n');
}

export function sectionOf(result: BenchResult, how: Circumstances): Section {
  const images = new Map<string, string>();
  const cases = result.cases.map((one, index) => {
    const chart = chartOf(one);
    const image = chart === null ? null : `${result.name}-${index + 1}.svg`;
    if (image !== null && chart !== null) images.set(image, chart);
    return caseText(one, image);
  });
  const made = `${how.date}; ${how.machine}; Node ${how.node}; ${how.rounds} rounds of ${how.seconds} s each.`;
  const text = [`# ${result.title}`, result.what, made, ...cases].join('\n\n');
  return { text: `${text}\n`, images };
}

const RESULTS = '<!-- results -->';

/** A row of `compared | measured | floor | goal` that was judged by a floor: what was compared, what came out, the floor. */
const JUDGED = /^\| (.+?) \| (.+?): (floor met|goal met|missed)\b.* \| ([≥≤][^|]+) \| .*\|$/gm;

/** One line of the overview: how many floors a bench met, and those that it missed. */
function overviewRow(name: string, page: string): readonly string[] {
  const title = /^# (.*)$/m.exec(page)?.[1] ?? name;
  const judged = [...page.matchAll(JUDGED)].map(([, what = '', value = '', verdict = '', floor = '']) => ({
    text: `${what}: ${value.replace(/ \(.*/, '')}, floor ${floor.trim()}`,
    met: verdict !== 'missed',
  }));
  const missed = judged.filter(({ met }) => !met);
  const met = judged.length === 0 ? 'none stated' : `${judged.length - missed.length} of ${judged.length}`;
  return [`[${title}](benchmarks/${name}.md)`, met, missed.map(({ text }) => text).join('<br>')];
}

/** The page for readers with the overview of these pages, in their order, in place of what stood below the mark of the results. */
export function withOverview(page: string, pages: ReadonlyMap<string, string>): string {
  const mark = page.indexOf(RESULTS);
  if (mark < 0) throw new Error(`the page has no line ${RESULTS} for the results to stand below`);
  const rows = [...pages].map(([name, text]) => overviewRow(name, text));
  return `${page.slice(0, mark)}${RESULTS}\n\n${table(['bench', 'floors met', 'missed'], rows)}\n`;
}

/** Writes a page for each bench into `benchmarks/` of this folder of documentation, its images, and the overview. */
export async function writeReport(
  docs: string,
  sections: ReadonlyMap<string, Section>,
  order: readonly string[],
): Promise<void> {
  const [pages, images] = [join(docs, 'benchmarks'), join(docs, 'images', 'bench')];
  for (const folder of [pages, images]) await mkdir(folder, { recursive: true });
  for (const [name, section] of sections) {
    await writeFile(join(pages, `${name}.md`), section.text);
    for (const [file, image] of section.images) await writeFile(join(images, file), image);
  }
  const there = new Map<string, string>();
  for (const name of order) {
    const file = join(pages, `${name}.md`);
    if (existsSync(file)) there.set(name, await readFile(file, 'utf8'));
  }
  const page = join(docs, 'benchmarks.md');
  await writeFile(page, withOverview(await readFile(page, 'utf8'), there));
}
