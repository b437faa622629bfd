import { readFileSync } from 'node:fs';
import { spreadOf } from './statistics.ts';

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

/** What memory did over the rounds of a soak. */
export type Course = {
  /** MiB, medians: over the second quarter of the rounds, when all is warm, and over the last. */
  readonly early: number;
  readonly late: number;
  readonly ratio: number;
  readonly isFlat: boolean;
};

/** The heap breathes between collections; what leaks for real goes past this within any soak. Ours, from looking at idle processes. */
export const FLAT_WITHIN = 1.1;

/** Null for fewer than four rounds: they have no quarters. */
export function courseOf(memory: readonly number[]): Course | null {
  const quarter = Math.floor(memory.length / 4);
  if (quarter === 0) return null;
  const early = spreadOf(memory.slice(quarter, 2 * quarter)).median;
  const late = spreadOf(memory.slice(-quarter)).median;
  return { early, late, ratio: late / early, isFlat: late / early <= FLAT_WITHIN };
}
