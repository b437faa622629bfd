import { setTimeout as sleep } from 'node:timers/promises';
import { startAskingEngine } from '../asking-engine.ts';
import { createDice } from '../corpus.ts';
import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import { workOff } from '../harness/backlog.ts';
import { closedLoop } from '../harness/load.ts';
import { secondsOf } from '../warm-up.ts';

const OPEN = 64;

/** How long the partner takes about each, in milliseconds: even between these, the same for every side. */
type Span = readonly [from: number, to: number];

function createPartner([from, to]: Span): () => Promise<unknown> {
  const dice = createDice();
  return () => sleep(from + dice() * (to - from));
}

const carillon = (span: Span): Side => ({
  name: 'carillon',
  syncs: 'leases, answers and records, in commits of the writer (SQLite, WAL, synchronous = FULL)',
  async open() {
    const engine = await startAskingEngine({ crm: createPartner(span) });
    return {
      round: (round) =>
        workOff({
          seconds: secondsOf(round),
          add: (count) => engine.trigger('crm', count),
          done: () => engine.answered('crm'),
        }),
      verify: () => engine.faults('crm'),
      close: () => engine.close(),
    };
  },
});

/** Nothing but the waiting, so many at a time. */
const waiting = (name: string, open: number, span: Span): Side => ({
  name,
  syncs: 'nothing',
  async open() {
    const partner = createPartner(span);
    let most = 0;
    let now = 0;
    return {
      async round(round) {
        const { done, seconds: took } = await closedLoop({ open, seconds: secondsOf(round) }, async () => {
          most = Math.max(most, (now += 1));
          await partner();
          now -= 1;
        });
        return { done, seconds: took };
      },
      verify: async () => (most === open ? [] : [`${most} were open, not ${open}`]),
    };
  },
});

const IDEAL = `a semaphore of ${OPEN}`;
const SERIAL = 'one after the other';

const lookupsOf = (title: string, span: Span): BenchCase => ({
  title,
  counted: 'lookups',
  sides: [carillon(span), waiting(IDEAL, OPEN, span), waiting(SERIAL, 1, span)],
  comparisons: [
    { side: 'carillon', to: SERIAL, measure: 'rate', wanted: 'at least', floor: 30, goal: 50 },
    { side: 'carillon', to: IDEAL, measure: 'rate', wanted: 'at least', floor: 0.85, goal: 0.95 },
  ],
});

export const lookups: Bench = {
  name: 'lookups',
  title: 'Asking partners',
  what: `The engine asks one partner about one user after the other, ${OPEN} calls open at a time, over the embedded backend: each trigger
is taken into custody, leased, asked about, and its answer is stored and appended before it counts as done. The partner is a timer in the same
process. Beside it stand the timers alone, ${OPEN} at a time and one at a time: no store, no log, no promise. Each trigger has one lookup on the log at the end.`,
  cases: [
    lookupsOf('a partner that takes 0 to 5 ms', [0, 5]),
    lookupsOf('a partner that takes 50 to 100 ms', [50, 100]),
  ],
};
