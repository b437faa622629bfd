import type { RunBody } from '@carillon/contracts';
import { EVENT_BYTES } from '../corpus.ts';
import type { BenchCase, Measure, Reading, Round, Side } from '../harness/bench.ts';
import { readingOf, startHttpLoad, type HttpLoad } from '../http/load.ts';
import { type Backend, CONNECTIONS, delaysOf, mailedSide, type Sending, warmedByBursts } from '../mailed-events.ts';
import { compareStored } from '../peers/topic.ts';
import { countEmbedded } from '../product.ts';
import { secondsOf } from '../warm-up.ts';
import { FEW_ADDED } from './edited-rules.ts';
import { isEnded, startWithEvents, type ProductWithEvents } from './product-with-events.ts';

/** Events of a burst; all of their mails are waited for. */
const BURST = 3_000;
const WAL_LOOK_MS = 100;
/** A mail server on loopback may be sent to. */
const SINK_IS_NEAR = { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };
const [WITHOUT, DURING] = ['without a run', 'during a run'];

/** `carillon up` over the log of events. `on` is the product once it has started. */
type LoggedBackend = Backend & { on: ProductWithEvents | null };

function backendWithEvents(name: string): LoggedBackend {
  let running: HttpLoad | null = null;
  const backend: LoggedBackend = {
    name,
    syncs: 'each commit (SQLite, WAL, synchronous=FULL)',
    most: Number.NaN,
    on: null,
    async start(files) {
      const on = await startWithEvents(files, SINK_IS_NEAR);
      backend.on = on;
      running = startHttpLoad();
      const target = {
        url: on.eventsUrl,
        headers: on.headers,
        processes: { carillon: on.product.pid },
        async stored() {
          // One process at a time may have the folder.
          await on.product.kill('SIGTERM');
          return countEmbedded(on.dataDir);
        },
        stop: () => on.stop(),
      };
      return { target, load: running, shares: {} };
    },
    async release() {
      await running?.stop();
      running = null;
    },
  };
  return backend;
}

/** Compares one run after the other until it is stopped. Resolves when the first run has read events. */
async function keepComparing(on: ProductWithEvents): Promise<{ stop(): Promise<void> }> {
  const state = { isStopped: false };
  const hasRead = ({ progress }: RunBody): boolean => progress.read > 0;
  let run = await on.startRun(FEW_ADDED);
  await on.runUntil(run.id, hasRead);
  const comparing = (async () => {
    while (!state.isStopped) {
      await on.runUntil(run.id, (found) => isEnded(found) || state.isStopped);
      if (!state.isStopped) run = await on.startRun(FEW_ADDED);
    }
    await on.cancel(run);
    await on.runUntil(run.id, isEnded);
  })();
  // `stop` rejects with the error.
  comparing.catch(() => undefined);
  return {
    async stop() {
      state.isStopped = true;
      await comparing;
    },
  };
}

type PlayRound = (round: Round) => Promise<Reading>;

/** Adds to the readings of a side the largest size of the write-ahead log. */
function withWal({ on }: LoggedBackend, round: PlayRound): PlayRound {
  return async (facts) => {
    let wal = 0;
    const look = (): void => void (wal = Math.max(wal, on?.walMiB() ?? 0));
    const timer = setInterval(look, WAL_LOOK_MS);
    try {
      const reading = await round(facts);
      look();
      return { ...reading, wal };
    } finally {
      clearInterval(timer);
    }
  };
}

function withRuns({ on }: LoggedBackend, round: PlayRound): PlayRound {
  return async (facts) => {
    if (!on) throw new Error('the product has not started');
    const comparing = await keepComparing(on);
    try {
      return await round(facts);
    } finally {
      await comparing.stop();
    }
  };
}

/** The same load on two products, one of which compares meanwhile. */
const besideRuns = (sideOf: (backend: LoggedBackend) => Side): readonly Side[] =>
  [WITHOUT, DURING].map((name): Side => {
    const backend = backendWithEvents(name);
    const side = sideOf(backend);
    return {
      ...side,
      async open() {
        const opened = await side.open();
        const round = withWal(backend, (facts) => opened.round(facts));
        return { ...opened, round: name === DURING ? withRuns(backend, round) : round };
      },
    };
  });

/** Posts events that no rule fires for. */
const intakeOf = (backend: LoggedBackend): Side => ({
  name: backend.name,
  syncs: backend.syncs,
  async open() {
    const { target, load } = await backend.start({}, 0);
    const { url, headers, processes } = target;
    const acknowledged: string[] = [];
    return {
      processes: { ...processes, load: load.pid },
      async round(round) {
        const plan = { open: CONNECTIONS, seconds: secondsOf(round) };
        const result = await load.run({ url, headers, bytes: EVENT_BYTES, load: plan });
        acknowledged.push(...result.acknowledged);
        return readingOf(result);
      },
      verify: async () => compareStored(acknowledged, (await target.stored?.()) ?? new Map()),
      async close() {
        await target.stop();
        await backend.release();
      },
    };
  },
});

/** Events per second of the fastest burst without a run, which sets the rate of the case of delays. */
let most = 0;

const bursts: Sending = {
  load: () => ({ open: CONNECTIONS, count: BURST }),
  read({ done, seconds }, { name }) {
    if (name === WITHOUT) most = Math.max(most, done / seconds);
    return { done, seconds };
  },
};
const halfLoad: Sending = {
  load: (round) => ({ rate: rateOf(), seconds: secondsOf(round) }),
  read: ({ done, seconds, afterAnswer }) => ({ done, seconds, delays: delaysOf(afterAnswer), offered: rateOf() }),
};
function rateOf(): number {
  if (most === 0) throw new Error('only the case of bursts, which comes before, shows what the product can do');
  return most / 2;
}

const duringRuns = (
  measure: Measure,
  wanted: 'at least' | 'at most',
  [floor, goal]: readonly [number, number],
): BenchCase['comparisons'][number] => ({ side: DURING, to: WITHOUT, measure, wanted, floor, goal });

const MOST = [1.25, 1.05] as const;
const LEAST = [0.8, 0.95] as const;

export const loadBesideRuns: readonly BenchCase[] = [
  {
    title: 'from event to mail, bursts',
    counted: 'events',
    sides: besideRuns((backend) => warmedByBursts(mailedSide(backend, bursts))),
    comparisons: [duringRuns('rate', 'at least', LEAST), duringRuns('wal', 'at most', [1.5, 1.1])],
  },
  {
    title: 'intake',
    counted: 'events',
    delays: 'from the request to its 202',
    sides: besideRuns(intakeOf),
    comparisons: [duringRuns('rate', 'at least', LEAST)],
  },
  {
    title: 'from accepted to sent, half load',
    counted: 'events',
    delays: 'from the 202 to when the mail server has the mail',
    sides: besideRuns((backend) => mailedSide(backend, halfLoad)),
    comparisons: [duringRuns('p99', 'at most', MOST)],
  },
];
