import { setTimeout as sleep } from 'node:timers/promises';
import { startAskingEngine } from '../asking-engine.ts';
import { createDelays, recordDelay } from '../harness/delays.ts';
import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import { workOff } from '../harness/backlog.ts';
import { BROKER } from '../http/cluster-stand.ts';
import { startSendingDelivery } from '../sending-delivery.ts';
import { slowPartitionEmbedded, slowPartitionOnKafka } from '../slow-partition.ts';

/** How long the slow one takes each time, and the others, in milliseconds. */
const SLOW = 2_000;
const QUICK = 20;
/** A provider that is about to be given up. */
const VERY_SLOW = 10_000;
/** So many wait for the slow one all the time. */
const BEHIND = 200;
const SQLITE = 'commits of the writer (SQLite, WAL, synchronous = FULL)';
const ALONE = 'without it';
const BESIDE = 'beside a slow one';

/** Two ways of the same work, of which one may be slow: puts more on one of them, and tells how many came through. */
type TwoWays = {
  add(way: 'quick' | 'slow', count: number): Promise<void>;
  /** How much waits on the slow way. */
  waiting(): number;
  done(): number;
  faults(): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** The quick way is measured; beside the slow one, that one never runs empty. */
const side = (name: string, syncs: string, open: () => Promise<TwoWays>): Side => ({
  name,
  syncs,
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

async function accounts(slow = SLOW): Promise<TwoWays> {
  const delivery = await startSendingDelivery({ quick: () => sleep(QUICK), slow: () => sleep(slow) });
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

/** One message in so many milliseconds: so few that none waits for another. */
const EVERY = 50;

/** Each message of the quick account by itself, from when it is put on the log until the provider has taken it. */
const waits = (name: string): Side => ({
  name,
  syncs: SQLITE,
  async open() {
    let delays = createDelays();
    const begun = new Map<number, number>();
    const delivery = await startSendingDelivery(
      { quick: () => sleep(QUICK), slow: () => sleep(VERY_SLOW) },
      {
        took(account, n) {
          const from = begun.get(n);
          if (account === 'quick' && from !== undefined) recordDelay(delays, performance.now() - from);
        },
      },
    );
    const keepBehind = async (): Promise<void> => {
      const missing = BEHIND - (delivery.intended('slow') - delivery.accepted('slow'));
      if (name === BESIDE && missing > 0) await delivery.intend('slow', missing);
    };
    return {
      async round({ seconds }) {
        delays = createDelays();
        const from = performance.now();
        const before = delivery.intended('quick');
        while (performance.now() - from < seconds * 1000) {
          await keepBehind();
          begun.set(delivery.intended('quick'), performance.now());
          await delivery.intend('quick', 1);
          await sleep(EVERY);
        }
        while (delivery.accepted('quick') < delivery.intended('quick')) await sleep(2);
        return { done: delivery.intended('quick') - before, seconds: (performance.now() - from) / 1000, delays };
      },
      verify: async () => (delivery.twice() === 0 ? [] : [`${delivery.twice()} messages went out twice`]),
      close: () => delivery.close(),
    };
  },
});

type Open = (name: string) => Promise<TwoWays>;

const slowCase = (title: string, counted: string, open: Open, syncs = SQLITE): BenchCase => ({
  title,
  counted,
  sides: [BESIDE, ALONE].map((name) => side(name, syncs, () => open(name))),
  comparisons: [{ side: BESIDE, to: ALONE, measure: 'rate', wanted: 'at least', floor: 0.9, goal: 0.97 }],
});

const TIMES = { slow: SLOW, quick: QUICK };

export const slowOne: Bench = {
  name: 'slow-one',
  title: 'Beside a slow one',
  what: `Two partners or two provider accounts over the embedded backend, or eight partitions of the log on either backend. Of one, each call or batch takes
${SLOW / 1000} s (${VERY_SLOW / 1000} s where it says so) and work waits for it all the time; of the others it takes ${QUICK} ms. What counts is how fast the others are, with the slow one and without it, and in one case how long each of them waits (p95).
The partners and accounts are timers in the same process, and so is what the stage does with a batch. On Kafka (one broker, 4.3, positions in FerretDB) one consumer
has all eight partitions, through the product's own log; the two sides read two topics of the same broker.`,
  cases: [
    slowCase('a slow partner', 'lookups', partners),
    slowCase('a slow provider', 'messages', () => accounts()),
    slowCase('a provider that takes 10 s', 'messages', () => accounts(VERY_SLOW)),
    {
      title: 'what a message waits beside a provider that takes 10 s',
      counted: 'messages',
      delays: 'from the log until the provider has taken it',
      sides: [BESIDE, ALONE].map(waits),
      comparisons: [{ side: BESIDE, to: ALONE, measure: 'p95', wanted: 'at most', floor: 2, goal: 1.3 }],
    },
    slowCase('a slow partition, embedded', 'records', () => slowPartitionEmbedded(TIMES)),
    slowCase(
      'a slow partition, Kafka',
      'records',
      (name) => slowPartitionOnKafka(name === BESIDE ? 'carillon.events' : 'carillon.intents', TIMES),
      `${BROKER}; positions: FerretDB's PostgreSQL, fsync off`,
    ),
  ],
};
