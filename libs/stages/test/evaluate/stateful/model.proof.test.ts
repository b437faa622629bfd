import { describe, expect, it } from 'vitest';
import { logsOf, type ModelRecord } from './model-logs.ts';
import { explore, type Bounds } from './model.ts';

const LENGTH = 3;
const MINUTES = Number(process.env['MODEL_MINUTES'] ?? 15);
const SEED = Number(process.env['MODEL_SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** Worlds of a log that are explored. A log that leads to more is counted as cut. */
const CAP = 500_000;
const BOUNDS: readonly Bounds[] = [
  { batches: [1, 2], most: 1 },
  { batches: [3], most: 9 },
];

/** The logs in an order of chance, so that a run that ends before the last of them has all kinds. */
function shuffled(logs: readonly (readonly ModelRecord[])[], seed: number): readonly (readonly ModelRecord[])[] {
  let state = seed;
  // Any generator will do: the seed only has to name the order.
  const draw = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return logs
    .map((log) => ({ log, place: draw() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ log }) => log);
}

const textOf = (log: readonly ModelRecord[]): string =>
  log.map(({ kind, entity = '', at }) => `${kind}${entity}@${at}`).join(' ');

describe('a model of two workers of one partition whose rules wait (long)', () => {
  it(
    `makes the messages that the log determines, in all logs of ${LENGTH} records that ${MINUTES} minutes reach (MODEL_SEED=${SEED})`,
    { timeout: (MINUTES + 5) * 60_000 },
    () => {
      const logs = shuffled([...logsOf(LENGTH)], SEED);
      const until = performance.now() + MINUTES * 60_000;
      let explored = 0;
      let cut = 0;
      let worlds = 0;
      for (const log of logs) {
        if (performance.now() > until) break;
        for (const bounds of BOUNDS) {
          const found = explore(log, { ...bounds, crashes: 2, cap: CAP });
          expect(found.wrong, textOf(log)).toBeNull();
          worlds += found.worlds;
          cut += Number(found.isCut);
        }
        explored += 1;
      }
      console.log(`model: ${explored} of ${logs.length} logs, ${worlds} worlds, ${cut} cut off after ${CAP}`);
      expect(explored).toBeGreaterThan(0);
    },
  );
});
