import { setTimeout as sleep } from 'node:timers/promises';
import type { NewRecord } from '@carillon/ports';
import { startStageConsumer } from '@carillon/runtime';
import { openTopology } from '@carillon/testing/topology';
import { startAskingEngine } from '../asking-engine.ts';
import { createCorpus } from '../corpus.ts';
import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import { workOff } from '../harness/backlog.ts';
import { startSendingDelivery } from '../sending-delivery.ts';

/** How long the slow one takes each time, and the others, in milliseconds. */
const SLOW = 2_000;
const QUICK = 20;
/** So many wait for the slow one all the time. */
const BEHIND = 200;
const SQLITE = 'commits of the writer (SQLite, WAL, synchronous = FULL)';
const ALONE = 'without it';
const BESIDE = 'beside a slow one';

/** Two ways of the same work, of which one may be slow: puts more on one of them, and tells how many came through. */
type TwoWays = {
  add(way: 'quick' | 'slow', count: number): Promise<void>;
  /** Of the slow way. */
  waiting(): number;
  done(): number;
  faults(): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** The quick way is measured; beside the slow one, that one never runs empty. */
const side = (name: string, open: () => Promise<TwoWays>): Side => ({
  name,
  syncs: SQLITE,
  async open() {
    const ways = await open();
    const keepBehind = async (): Promise<void> => {
      if (name !== BESIDE) return;
      const missing = BEHIND - ways.waiting();
      if (missing > 0) await ways.add('slow', missing);
    };
    return {
      async round({ seconds }) {
        await keepBehind();
        return workOff({
          seconds,
          done: () => ways.done(),
          async add(count) {
            await keepBehind();
            await ways.add('quick', count);
          },
        });
      },
      verify: () => ways.faults(),
      close: () => ways.close(),
    };
  },
});

async function partners(): Promise<TwoWays> {
  const engine = await startAskingEngine({ quick: () => sleep(QUICK), slow: () => sleep(SLOW) });
  return {
    add: (way, count) => engine.trigger(way, count),
    waiting: () => engine.triggered('slow') - engine.answered('slow'),
    done: () => engine.answered('quick'),
    faults: () => engine.faults('quick'),
    close: () => engine.close(),
  };
}

async function accounts(): Promise<TwoWays> {
  const delivery = await startSendingDelivery({ quick: () => sleep(QUICK), slow: () => sleep(SLOW) });
  return {
    add: (way, count) => delivery.intend(way, count),
    waiting: () => delivery.intended('slow') - delivery.accepted('slow'),
    done: () => delivery.accepted('quick'),
    async faults() {
      const [intended, accepted] = [delivery.intended('quick'), delivery.accepted('quick')];
      return [
        ...(intended === accepted ? [] : [`${intended} messages were intended, ${accepted} accepted`]),
        ...(delivery.twice() === 0 ? [] : [`${delivery.twice()} messages went out twice`]),
      ];
    },
    close: () => delivery.close(),
  };
}

const PARTITIONS = 8;
const SLOW_PARTITION = 0;

/** One stage over all partitions of the log, which takes long about each batch of the first. */
async function partitions(): Promise<TwoWays> {
  const topology = await openTopology({ partitions: PARTITIONS });
  const { log, checkpoints } = topology.data;
  const corpus = createCorpus();
  const handled = new Map<number, number>();
  const added = new Map<number, number>();
  let quickAt = 0;
  const consumption = await startStageConsumer({
    group: 'bench',
    topic: 'carillon.events',
    log,
    checkpoints,
    watch: topology.witness,
    stage: {
      name: 'bench',
      async handle(records, state) {
        await sleep(state.partition === SLOW_PARTITION ? SLOW : QUICK);
        handled.set(state.partition, (handled.get(state.partition) ?? 0) + records.length);
        return { fates: records.map(() => ({ kind: 'done' })), outputs: [], state };
      },
    },
  });
  function recordIn(partition: number): NewRecord {
    added.set(partition, (added.get(partition) ?? 0) + 1);
    const value = Buffer.from(JSON.stringify(corpus.next()));
    return { topic: 'carillon.events', partition, key: `key-${partition}`, value, headers: {} };
  }
  const sum = (counts: ReadonlyMap<number, number>): number =>
    [...counts].reduce((all, [partition, count]) => all + (partition === SLOW_PARTITION ? 0 : count), 0);
  return {
    async add(way, count) {
      const places = Array.from({ length: count }, () =>
        way === 'slow' ? SLOW_PARTITION : 1 + ((quickAt += 1) % (PARTITIONS - 1)),
      );
      await log.append(places.map(recordIn));
    },
    waiting: () => (added.get(SLOW_PARTITION) ?? 0) - (handled.get(SLOW_PARTITION) ?? 0),
    done: () => sum(handled),
    faults: async () =>
      sum(handled) === sum(added) ? [] : [`${sum(added)} records were appended, ${sum(handled)} handled`],
    async close() {
      await consumption.stop();
      await topology.close();
    },
  };
}

const slowCase = (title: string, counted: string, open: () => Promise<TwoWays>): BenchCase => ({
  title,
  counted,
  sides: [side(BESIDE, open), side(ALONE, open)],
  comparisons: [{ side: BESIDE, to: ALONE, measure: 'rate', wanted: 'at least', floor: 0.9, goal: 0.97 }],
});

export const slowOne: Bench = {
  name: 'slow-one',
  title: 'Beside a slow one',
  what: `Two partners, two provider accounts, or eight partitions of the log, over the embedded backend. Of one, each call or batch takes
${SLOW / 1000} s and work waits for it all the time; of the others it takes ${QUICK} ms. What counts is how fast the others are, with the slow one and without it.
The partners and accounts are timers in the same process.`,
  cases: [
    slowCase('a slow partner', 'lookups', partners),
    slowCase('a slow provider', 'messages', accounts),
    slowCase('a slow partition, embedded', 'records', partitions),
  ],
};
