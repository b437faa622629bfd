import type { BenchCase, Side } from '../harness/bench.ts';
import { createDelays, recordDelay } from '../harness/delays.ts';
import { secondsOf } from '../warm-up.ts';
import { FEW_ADDED, MANY_ADDED } from './edited-rules.ts';
import { isEnded, startWithEvents, type ProductWithEvents } from './product-with-events.ts';

type Rows = { readonly items: readonly unknown[]; readonly next: string | null };

const ROWS_OF_PAGE = 50;
const NAME = 'carillon up, embedded';

/** Asks again and again. `prepare` returns a function that asks once and returns the milliseconds until the answer. */
const asking = (prepare: (on: ProductWithEvents) => Promise<() => Promise<number>>): readonly Side[] => [
  {
    name: NAME,
    syncs: 'each commit (SQLite, WAL, synchronous = FULL)',
    async open() {
      const on = await startWithEvents();
      const ask = await prepare(on);
      return {
        processes: { carillon: on.product.pid, bench: process.pid },
        async round(round) {
          const delays = createDelays();
          const begun = performance.now();
          let done = 0;
          for (; performance.now() - begun < secondsOf(round) * 1_000; done += 1) recordDelay(delays, await ask());
          return { done, seconds: (performance.now() - begun) / 1_000, delays };
        },
        // A wrong answer fails its round.
        verify: async () => [],
        close: () => on.stop(),
      };
    },
  },
];

const firstCounts = asking(async (on) => async () => {
  const begun = performance.now();
  const run = await on.startRun(FEW_ADDED);
  await on.runUntil(run.id, ({ progress, counts }) => progress.read > 0 && counts !== null);
  const milliseconds = performance.now() - begun;
  await on.cancel(run);
  await on.runUntil(run.id, isEnded);
  return milliseconds;
});

const pagesOfRows = asking(async (on) => {
  const run = await on.startRun(MANY_ADDED);
  await on.runUntil(run.id, isEnded);
  let cursor: string | null = null;
  return async () => {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const begun = performance.now();
    const page: Rows = await on.get<Rows>(`runs/${run.id}/rows?limit=${ROWS_OF_PAGE}${query}`);
    const milliseconds = performance.now() - begun;
    if (page.items.length !== ROWS_OF_PAGE && page.next !== null)
      throw new Error(`${page.items.length} rows on a page`);
    cursor = page.next;
    return milliseconds;
  };
});

export const askedRuns: readonly BenchCase[] = [
  {
    title: 'first counts',
    counted: 'runs',
    delays: 'from the request that starts a run to its first counts, read by polling',
    sides: firstCounts,
    comparisons: [{ side: NAME, measure: 'p50', wanted: 'at most', floor: 3_000, goal: 1_000 }],
  },
  {
    title: `a page of ${ROWS_OF_PAGE} of 100,000 rows`,
    counted: 'pages',
    delays: 'from the request to its answer',
    sides: pagesOfRows,
    comparisons: [{ side: NAME, measure: 'p50', wanted: 'at most', floor: 300, goal: 100 }],
  },
];
