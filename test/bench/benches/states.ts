import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { workOff } from '../harness/backlog.ts';
import { CannotRun, type Bench, type BenchCase, type Comparison, type Reading, type Side } from '../harness/bench.ts';
import { createDelays, recordDelay } from '../harness/delays.ts';
import { BROKER } from '../http/cluster-stand.ts';
import { shared, type Shared } from '../started-once.ts';
import {
  openClusterEngine,
  openEmbeddedEngine,
  type BenchStream,
  type ClusterEngine,
  type StateEngine,
} from '../state-engine.ts';

const SQLITE = 'commits of the writer (SQLite, WAL, synchronous = FULL)';
const CLUSTER = `${BROKER}; checkpoints and states: FerretDB's PostgreSQL, fsync off`;
const ENTITIES = 100_000;
const MANY = Number(process.env['BENCH_ENTITIES'] ?? 1_000_000);
const FEW = 10_000;
/** Overdue waits, or events that fire, of one round. */
const AT_ONCE = Number(process.env['BENCH_OVERDUE'] ?? 20_000);
const HOUR = 3_600_000;

const shareEngine = <Engine extends StateEngine>(open: () => Promise<Engine>): Shared<Engine> =>
  shared(open, (engine) => engine.close());

type Work = (engine: StateEngine, seconds: number) => Promise<Reading>;

/** A side over an engine that other sides of the case use too. Sides work in turns, so one does not slow another. */
const side = (name: string, syncs: string, engines: Shared<StateEngine>, work: Work): Side => ({
  name,
  syncs,
  async open() {
    const engine = await engines.take();
    return {
      round: ({ seconds }) => work(engine, seconds),
      verify: async () => engine.faults(),
      close: () => engines.release(),
    };
  },
});

/** Appends events of entities in turn, each in order, as fast as they are evaluated. */
function inTurn(stream: BenchStream, entities: number, { from = 0, oneIn = 1 } = {}): Work {
  let next = 0;
  return (engine, seconds) =>
    workOff({
      seconds,
      done: () => engine.done(),
      async add(count) {
        const some = Array.from({ length: count }, (_, index) => from + ((next + index) % entities));
        next += count;
        await engine.append(stream, some, (entity) => (entity % oneIn === 0 ? 'placed' : 'viewed'));
      },
    });
}

type Bounds = Pick<Comparison, 'floor' | 'goal'>;
const atLeast = (name: string, to: string, bounds: Bounds): Comparison => ({
  side: name,
  to,
  measure: 'rate',
  wanted: 'at least',
  ...bounds,
});

const WITHOUT = 'without state';
const EACH = 'each event changes a state';

function embeddedCase(): BenchCase {
  const engines = shareEngine(openEmbeddedEngine);
  return {
    title: `${ENTITIES.toLocaleString('en')} entities, embedded`,
    counted: 'events',
    sides: [
      side(EACH, SQLITE, engines, inTurn('renewing', ENTITIES)),
      side(WITHOUT, SQLITE, engines, inTurn('stateless', ENTITIES)),
    ],
    comparisons: [atLeast(EACH, WITHOUT, { floor: 0.3, goal: 0.5 })],
  };
}

/** Loads and saves the same states as the engine, with the driver of MongoDB alone. */
function driverSide(name: string, engines: Shared<ClusterEngine>): Side {
  const size = 500;
  return {
    name,
    syncs: CLUSTER,
    async open() {
      const engine = await engines.take();
      const client = new MongoClient(engine.mongodbUrl);
      const states = client.db('bench-driver').collection<{ _id: string; offset: number }>('rule_states');
      await states.createIndex({ partition: 1, nextDue: 1 });
      await engine.append('renewing', [0]);
      await engine.caughtUp();
      const { ids, data } = engine.topology;
      const [sample] = await data.ruleStates.load([ids.derive('state', 'shop/renewing', 'o-0', '')]);
      if (!sample) throw new CannotRun('the engine saved no state');
      let number = 0;
      return {
        async round({ seconds }) {
          const begun = performance.now();
          let done = 0;
          for (; performance.now() - begun < seconds * 1000; done += size) {
            const some = Array.from({ length: size }, (_, index) => `state-${(number + index) % ENTITIES}`);
            number += size;
            await states.find({ _id: { $in: some } }).toArray();
            const { partition, logId, nextDue, waits, data: text } = sample;
            const fields = { offset: number, nextDue: (nextDue ?? 0) + number, waits, data: text };
            await states.bulkWrite(
              some.map((id) => ({
                updateOne: {
                  filter: { _id: id, logId, partition, offset: { $lt: number } },
                  update: { $set: fields },
                  upsert: true,
                },
              })),
              { ordered: false },
            );
          }
          return { done, seconds: (performance.now() - begun) / 1000 };
        },
        verify: async () => [],
        async close() {
          await client.close();
          await engines.release();
        },
      };
    },
  };
}

function clusterCase(): BenchCase {
  const engines = shareEngine(openClusterEngine);
  const oneInTen = 'one event in ten changes a state';
  const driver = 'the driver alone, load and save';
  return {
    title: `${ENTITIES.toLocaleString('en')} entities, on a cluster`,
    counted: 'events',
    sides: [
      side(EACH, CLUSTER, engines, inTurn('renewing', ENTITIES)),
      side(WITHOUT, CLUSTER, engines, inTurn('stateless', ENTITIES)),
      side(oneInTen, CLUSTER, engines, inTurn('renewing', ENTITIES, { oneIn: 10 })),
      driverSide(driver, engines),
    ],
    comparisons: [
      atLeast(EACH, WITHOUT, { floor: 0.03, goal: 0.1 }),
      atLeast(EACH, driver, { floor: 0.7, goal: 0.9 }),
      atLeast(oneInTen, WITHOUT, { floor: 0.2, goal: 0.5 }),
    ],
  };
}

/** Changed states per second in the partitions of a stream without state. */
const BESIDE_RATE = 200;
const BESIDE_EVERY_MS = 50;

/** Does work while other events change states, if `isBeside`. */
const beside =
  (isBeside: boolean, work: Work): Work =>
  async (engine, seconds) => {
    let isOver = !isBeside;
    let next = 0;
    const count = (BESIDE_RATE * BESIDE_EVERY_MS) / 1000;
    const disturbing = (async () => {
      while (!isOver) {
        const some = Array.from({ length: count }, (_, index) => (next + index) % ENTITIES);
        next += count;
        await engine.append('renewing', some);
        await sleep(BESIDE_EVERY_MS);
      }
    })();
    const reading = await work(engine, seconds);
    isOver = true;
    await disturbing;
    await engine.caughtUp();
    return reading;
  };

/** One event after the other, each alone: from its append until its position is saved. */
const oneByOne =
  (stream: BenchStream, everyMs: number, entity: (number: number) => number): Work =>
  async (engine, seconds) => {
    const delays = createDelays();
    const begun = performance.now();
    const waiting: Promise<void>[] = [];
    let done = 0;
    while (performance.now() - begun < seconds * 1000) {
      const from = performance.now();
      waiting.push(
        engine.appendAndWait(stream, entity(done)).then(() => recordDelay(delays, performance.now() - from)),
      );
      done += 1;
      await sleep(Math.max(0, begun + done * everyMs - performance.now()));
    }
    await Promise.all(waiting);
    return { done, seconds: (performance.now() - begun) / 1000, delays };
  };

function besideCases(where: string, syncs: string, open: () => Promise<StateEngine>): readonly BenchCase[] {
  const [alone, disturbed] = ['alone', `beside ${BESIDE_RATE} changed states a second`];
  const engines = shareEngine(open);
  const sides = (work: () => Work): readonly Side[] => [
    side(disturbed, syncs, engines, beside(true, work())),
    side(alone, syncs, engines, beside(false, work())),
  ];
  return [
    {
      title: `a stream without state, ${where}: rate`,
      counted: 'events',
      sides: sides(() => inTurn('stateless', ENTITIES)),
      comparisons: [atLeast(disturbed, alone, { floor: 0.9, goal: 0.97 })],
    },
    {
      title: `a stream without state, ${where}: delay`,
      counted: 'events',
      delays: 'from the append until the position is saved',
      sides: sides(() => oneByOne('stateless', 20, (number) => number)),
      comparisons: [{ side: disturbed, to: alone, measure: 'p95', wanted: 'at most', floor: 2 }],
    },
  ];
}

function manyCase(): BenchCase {
  const many = MANY.toLocaleString('en');
  const filled = shareEngine(async () => {
    const engine = await openEmbeddedEngine();
    await engine.fill('renewing', MANY);
    return engine;
  });
  const empty = shareEngine(openEmbeddedEngine);
  const [besideWaits, overAll] = [`10,000 entities beside ${many} waits`, `${many} entities`];
  const overFew = '10,000 entities, no other waits';
  return {
    title: `${many} entities that wait, embedded`,
    counted: 'events',
    sides: [
      side(besideWaits, SQLITE, filled, inTurn('renewing', FEW, { from: MANY })),
      side(overAll, SQLITE, filled, inTurn('renewing', MANY)),
      side(overFew, SQLITE, empty, inTurn('renewing', FEW)),
    ],
    comparisons: [
      atLeast(besideWaits, overFew, { floor: 0.8, goal: 0.95 }),
      atLeast(overAll, overFew, { floor: 0.4, goal: 0.6 }),
    ],
  };
}

/** Resolves when this many intents have come. */
function intentsOf(engine: StateEngine, count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    engine.onIntent = () => {
      left -= 1;
      if (left === 0) resolve();
    };
  });
}

/** Waits that all passed while nothing came, or events at which the same rule fires. Each round has entities of its own. */
function atOnce(stream: 'waiting' | 'firing'): Work {
  let next = 0;
  return async (engine) => {
    const { clock } = engine.topology;
    const entities = Array.from({ length: AT_ONCE }, () => (next += 1));
    clock.standStill();
    const decided = intentsOf(engine, AT_ONCE);
    const begun = performance.now();
    await engine.append(stream, entities);
    if (stream === 'firing') {
      await decided;
      return { done: AT_ONCE, seconds: (performance.now() - begun) / 1000 };
    }
    await engine.caughtUp();
    clock.pass(2 * HOUR);
    const passedAt = performance.now();
    await engine.tick();
    await decided;
    return { done: AT_ONCE, seconds: (performance.now() - passedAt) / 1000 };
  };
}

function overdueCase(): BenchCase {
  const [overdue, firing] = ['overdue at once', 'the same rule at events'];
  return {
    title: `${AT_ONCE.toLocaleString('en')} overdue at once, embedded`,
    counted: 'messages',
    sides: [
      side(overdue, SQLITE, shareEngine(openEmbeddedEngine), atOnce('waiting')),
      side(firing, SQLITE, shareEngine(openEmbeddedEngine), atOnce('firing')),
    ],
    comparisons: [atLeast(overdue, firing, { floor: 0.5, goal: 0.8 })],
  };
}

/** Delay between a deadline and its intent on the log. Only ticks move the watermark. */
function deadlineCase(): BenchCase {
  const name = 'ticks end the waits';
  let next = 0;
  const work: Work = async (engine, seconds) => {
    const delays = createDelays();
    const begun = performance.now();
    let done = 0;
    engine.onIntent = ({ deadline = 0 }) => {
      recordDelay(delays, engine.topology.clock.now() - deadline);
      done += 1;
    };
    const count = Math.max(20, Math.floor(seconds * 4));
    for (let sent = 0; sent < count; sent += 8) {
      await engine.append(
        'soon',
        Array.from({ length: 8 }, () => (next += 1)),
      );
      const until = done + 8;
      while (done < until) await sleep(5);
    }
    return { done, seconds: (performance.now() - begun) / 1000, delays };
  };
  const engines = shareEngine(async () => {
    const engine = await openEmbeddedEngine();
    engine.startTicks();
    return engine;
  });
  return {
    title: 'from a deadline to its intent on a quiet stream',
    counted: 'messages',
    delays: 'from the deadline until the intent is on the log',
    sides: [side(name, SQLITE, engines, work)],
    comparisons: [{ side: name, measure: 'p95', wanted: 'at most', floor: 3_000, goal: 2_000 }],
  };
}

/** 10,000 events a minute. */
const HOT_EVERY_MS = 6;
const hotCase = (): BenchCase => ({
  title: 'one entity with 10,000 events a minute',
  counted: 'events',
  delays: 'from the append until the position is saved',
  sides: [
    side(
      'embedded',
      SQLITE,
      shareEngine(openEmbeddedEngine),
      oneByOne('renewing', HOT_EVERY_MS, () => 1),
    ),
    side(
      'on a cluster',
      CLUSTER,
      shareEngine(openClusterEngine),
      oneByOne('renewing', HOT_EVERY_MS, () => 1),
    ),
  ],
  comparisons: ['embedded', 'on a cluster'].map((name) => ({
    side: name,
    measure: 'stretch',
    wanted: 'at most',
    floor: 3,
  })),
});

export const states: Bench = {
  name: 'states',
  title: 'Rules with state',
  what: `What evaluates in an engine (consumer, stage, stores) runs in this process, over a data folder or over Kafka and FerretDB, with 8 partitions. Sides of one case share an engine
and differ in the rule: *without state* the rule looks at one event; with state each event of the kind \`placed\` moves the deadline of its entity, 30 days ahead, so that it changes the state.
Events come in turn to all entities, so the cache of an assignment helps little. The work includes making and appending the events.`,
  cases: [
    embeddedCase(),
    clusterCase(),
    ...besideCases('embedded', SQLITE, openEmbeddedEngine),
    ...besideCases('on a cluster', CLUSTER, openClusterEngine),
    manyCase(),
    overdueCase(),
    deadlineCase(),
    hotCase(),
  ],
};
