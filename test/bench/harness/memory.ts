import { readFileSync } from 'node:fs';
import { spreadOf, type Spread } from './statistics.ts';

const EVERY = 1000;

/** Resident memory of a process, in MiB; NaN where it is gone or this is no Linux. */
export function residentMemory(pid: number): number {
  if (pid === process.pid) return process.memoryUsage.rss() / 2 ** 20;
  try {
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return Number(kibibytes) / 2 ** 10;
  } catch {
    return Number.NaN;
  }
}

/** Looks at each process at once and then every second, until it is stopped; it looks once more then. */
export function watchMemory(processes: Readonly<Record<string, number>>): {
  stop(): void;
  /** MiB by name, of all looks. */
  medians(): Readonly<Record<string, number>>;
} {
  const seen = new Map(Object.keys(processes).map((name) => [name, [] as number[]]));
  const look = (): void => {
    for (const [name, pid] of Object.entries(processes)) seen.get(name)?.push(residentMemory(pid));
  };
  look();
  const timer = setInterval(look, EVERY);
  return {
    stop() {
      clearInterval(timer);
      look();
    },
    medians: () => Object.fromEntries([...seen].map(([name, values]) => [name, spreadOf(values).median])),
  };
}

/** A round of a soak: how long it was, and the median of the memory of one process in it, in MiB. */
export type MemoryRound = { readonly seconds: number; readonly memory: number };

/** What memory did over the rounds of a soak, of which the first quarter warms up and is left out. */
export type Course = {
  /** MiB, medians: over the second quarter of the rounds, when all is warm, and over the last. */
  readonly early: number;
  readonly late: number;
  /**
   * MiB an hour: the median of the slopes between any two rounds (Theil and Sen), so that a round in which the heap
   * happened to be large bends nothing; `min` and `max` hold the true slope in 95 of 100 such soaks.
   */
  readonly slope: Spread;
  /** No growth can be told from noise: the slope may as well be 0, or it falls. */
  readonly isFlat: boolean;
};

const HOUR_SECONDS = 3_600;
/** Standard deviations of the normal distribution, for 95 %. */
const DEVIATIONS = 1.96;

/** By Kendall's distribution of how many pairs go up, as it is without any slope. */
function slopeOf(points: readonly { readonly at: number; readonly memory: number }[]): Spread {
  const slopes = points
    .flatMap((from, index) => points.slice(index + 1).map((to) => (to.memory - from.memory) / (to.at - from.at)))
    .map((slope) => slope * HOUR_SECONDS)
    .toSorted((a, b) => a - b);
  const count = points.length;
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const below = Math.max(0, Math.floor((slopes.length - DEVIATIONS * deviation) / 2) - 1);
  const { median, min, max } = spreadOf(slopes);
  return { median, min: slopes[below] ?? min, max: slopes[slopes.length - 1 - below] ?? max };
}

/** Null for fewer than four rounds: they have no quarters. */
export function courseOf(rounds: readonly MemoryRound[]): Course | null {
  const quarter = Math.floor(rounds.length / 4);
  if (quarter === 0) return null;
  let at = 0;
  const warm = rounds.map(({ seconds, memory }) => ({ at: (at += seconds), memory })).slice(quarter);
  const medianOf = (part: readonly { readonly memory: number }[]): number =>
    spreadOf(part.map(({ memory }) => memory)).median;
  const slope = slopeOf(warm);
  return {
    early: medianOf(warm.slice(0, quarter)),
    late: medianOf(warm.slice(-quarter)),
    slope,
    isFlat: slope.min <= 0,
  };
}
