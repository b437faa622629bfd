import { type Bench, type BenchCase, CannotRun, type OpenSide, type Reading, type Round } from './bench.ts';
import { cpuOf } from './cpu.ts';
import { quantilesOf } from './delays.ts';
import { watchMemory } from './memory.ts';
import type { BenchResult, CaseResult, Measured } from './results.ts';
import { isLoadTheLimit } from './statistics.ts';

export type RunOptions = {
  readonly rounds: number;
  readonly seconds: number;
  /** How long the cases with a pace of their own are in all. */
  readonly minutes?: number;
  /** How many begin in a second, in the cases with a pace of their own. */
  readonly rate?: number;
  /** Told what happens, a line at a time. */
  readonly tell: (line: string) => void;
};

/** A side on its way through the rounds. */
type Entrant = {
  readonly side: BenchCase['sides'][number];
  open: OpenSide | null;
  skipped?: string;
  readonly faults: string[];
  readonly rounds: Measured[];
};

const saying = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const shown = (rate: number): string => (rate >= 100 ? Math.round(rate).toLocaleString('en') : rate.toPrecision(3));

async function measure(open: OpenSide, round: Round): Promise<Measured> {
  const processes = open.processes ?? { bench: process.pid };
  const before = cpuOf(processes);
  const watch = watchMemory(processes);
  const { done, seconds, delays, cpu, offered, loadBusy, wal }: Reading = await open
    .round(round)
    .finally(() => watch.stop());
  const after = cpuOf(processes);
  return {
    done,
    seconds,
    rate: done / seconds,
    cpu:
      cpu ??
      Object.fromEntries(Object.entries(after).map(([name, used]) => [name, used - (before[name] ?? Number.NaN)])),
    memory: watch.medians(),
    ...(delays && { delays: quantilesOf(delays) }),
    ...(offered !== undefined && { offered }),
    ...(loadBusy !== undefined && { loadBusy }),
    ...(wal !== undefined && { wal }),
  };
}

/** A case with a pace of its own keeps it, for as long as the command says. */
function paceOf({ pace }: Pick<BenchCase, 'pace'>, { rounds, seconds, minutes, rate }: RunOptions) {
  if (!pace) return { rounds, seconds };
  const length = minutes === undefined ? pace.rounds : Math.max(1, Math.round((minutes * 60) / pace.seconds));
  return { rounds: length, seconds: pace.seconds, ...(rate !== undefined && { rate }) };
}

async function runCase({ sides, ...rest }: BenchCase, options: RunOptions): Promise<CaseResult> {
  const { tell } = options;
  const { rounds, seconds, rate } = paceOf(rest, options);
  tell(`  ${rest.title}`);
  const entrants: Entrant[] = sides.map((side) => ({ side, open: null, faults: [], rounds: [] }));
  const fail = (entrant: Entrant, when: string, error: unknown): void => {
    entrant.faults.push(`${when}: ${saying(error)}`);
    tell(`    ${entrant.side.name}: void, ${entrant.faults.at(-1)}`);
  };
  try {
    for (const entrant of entrants) {
      try {
        entrant.open = await entrant.side.open();
      } catch (error) {
        if (error instanceof CannotRun) {
          entrant.skipped = error.message;
          tell(`    ${entrant.side.name}: skipped, ${error.message}`);
        } else fail(entrant, 'start', error);
      }
    }
    for (let number = 0; number <= rounds; number += 1) {
      // The order is turned each round, so that who comes after whom evens out.
      for (const entrant of number % 2 === 0 ? entrants : entrants.toReversed()) {
        if (!entrant.open || entrant.faults.length > 0) continue;
        try {
          const round = { number, seconds: number === 0 ? seconds / 2 : seconds, ...(rate !== undefined && { rate }) };
          const measured = await measure(entrant.open, round);
          if (number === 0) continue;
          entrant.rounds.push(measured);
          const cpu = (Object.values(measured.cpu).reduce((sum, used) => sum + used, 0) / measured.done) * 1000;
          const beside = `${shown(cpu)} CPU seconds per 1,000`;
          const limit = isLoadTheLimit(measured) ? ', the load was the limit' : '';
          tell(
            `    round ${number}: ${entrant.side.name}: ${shown(measured.rate)} ${rest.counted}/s, ${beside}${limit}`,
          );
        } catch (error) {
          fail(entrant, `round ${number}`, error);
        }
      }
    }
    for (const entrant of entrants) {
      if (!entrant.open || entrant.faults.length > 0) continue;
      try {
        for (const fault of await entrant.open.verify()) fail(entrant, 'verification', fault);
      } catch (error) {
        fail(entrant, 'verification', error);
      }
    }
  } finally {
    for (const { open } of entrants.toReversed()) await open?.close?.();
  }
  return {
    ...rest,
    ...(rest.pace && { pace: { rounds, seconds } }),
    sides: entrants.map(({ side: { name, syncs, at, line }, skipped, faults, rounds: measured }) => ({
      name,
      syncs,
      ...(at !== undefined && { at }),
      ...(line !== undefined && { line }),
      ...(skipped !== undefined && { skipped }),
      faults,
      rounds: measured,
    })),
  };
}

/** Runs the cases one after the other; within a case all sides are started, and then take turns. */
export async function runBench({ cases, ...rest }: Bench, options: RunOptions): Promise<BenchResult> {
  options.tell(`${rest.name}: ${rest.title}`);
  const results: CaseResult[] = [];
  for (const one of cases) results.push(await runCase(one, options));
  return { ...rest, cases: results };
}
