import { openEmbedded } from '@carillon/adapter-embedded';
import { createIds, systemClock } from '@carillon/adapter-system';
import { streamTable, type Configuration, type RuleBody } from '@carillon/domain/configuration';
import type { LogRecord } from '@carillon/ports';
import { createEvaluateStage } from '@carillon/stages';
import {
  configurationOf,
  givenRuleBook,
  notification,
  ORDER_PAID,
  ORDERS,
  PAID_MAIL,
  stream,
  template,
  noRuleStates,
  neverYield,
} from '@carillon/testing/given';
import { openTopology } from '@carillon/testing/topology';
import { createCorpus, EVENT_BYTES } from '../corpus.ts';
import { ENGINE_SYNCS, engineStand, evaluating as evaluatingOnKafka, startEngines } from '../evaluators.ts';
import { eventRecord } from '../event-record.ts';
import { folderWithSlots, numberedDelivery } from '../filled-folders.ts';
import type { Bench, BenchCase, Reading, Side } from '../harness/bench.ts';
import { secondsOf } from '../warm-up.ts';

/** What the engine is handed at once. */
const BATCH = 500;
const ids = createIds(new Uint8Array(32));

const leastOf = (rule: number): string => (495 + rule / 250).toFixed(3);
const ruleOf = (rule: number): RuleBody => ({
  stream: 'orders',
  when: `event.status == "paid" && event.total > ${leastOf(rule)}`,
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
});

/** So many workspaces, each with one stream and so many rules on it. */
function configured(workspaces: number, rules: number): Configuration {
  const perNotification = 50;
  const wishes = Array.from({ length: workspaces }, (_, at) => `shop-${at}`).flatMap((workspace) => [
    stream('orders', ORDERS, workspace),
    template('order-paid', PAID_MAIL, workspace),
    ...Array.from({ length: Math.ceil(rules / perNotification) }, (_, part) => {
      const first = part * perNotification;
      const places = Array.from({ length: Math.min(perNotification, rules - first) }, (_rule, at) => first + at);
      const body = { ...ORDER_PAID, rules: Object.fromEntries(places.map((rule) => [`rule-${rule}`, ruleOf(rule)])) };
      return notification(`orders-${part}`, body, workspace);
    }),
  ]);
  return configurationOf(wishes);
}

type Shop = { readonly workspaces: number; readonly rules: number; readonly bytes: number };

type Batch = { readonly records: readonly LogRecord[]; /** That have to come of it. */ readonly intents: number };

/** A batch of one partition, with events of all workspaces in turn. */
function batchOf({ workspaces, rules, bytes }: Shop, configuration: Configuration): Batch {
  const corpus = createCorpus(bytes);
  const leasts = Array.from({ length: rules }, (_, rule) => Number(leastOf(rule)));
  let intents = 0;
  const { streams } = streamTable(configuration);
  const records = Array.from({ length: BATCH }, (_, offset): LogRecord => {
    const of = streams.get(`shop-${offset % workspaces}/orders`);
    if (!of) throw new Error('the stream is not configured');
    const event = corpus.next();
    if (event.status === 'paid') intents += leasts.filter((least) => event.total > least).length;
    return { ...eventRecord(event, of, 1, ids), offset, time: Date.now() };
  });
  return { records, intents };
}

/** The engine's stage over the same batch again and again, as it is handed to it: reading, judging, and making the records that follow. */
const evaluating = (at: number, shop: Shop): Side => ({
  name: at.toLocaleString('en'),
  at,
  syncs: 'nothing',
  async open() {
    const topology = await openTopology({ partitions: 1 });
    const configuration = configured(shop.workspaces, shop.rules);
    const { codecs } = topology.ports;
    const stage = createEvaluateStage({
      log: topology.data.log,
      configuration: { at: async () => configuration },
      codecs,
      ids,
      clock: systemClock,
      slice: neverYield,
      ruleStates: noRuleStates,
      book: givenRuleBook(),
    });
    const { records, intents } = batchOf(shop, configuration);
    const counts = new Set<number>();
    return {
      async round({ seconds }): Promise<Reading> {
        const begun = performance.now();
        let done = 0;
        while (performance.now() - begun < seconds * 1000) {
          const { outputs, fates } = await stage.handle(records, {
            partition: 0,
            configNumber: configuration.number,
            watermark: 0,
          });
          counts.add(outputs.filter((output) => output.kind === 'intent').length);
          done += fates.length;
        }
        return { done, seconds: (performance.now() - begun) / 1000 };
      },
      async verify() {
        const right = counts.size === 1 && counts.has(intents);
        return right ? [] : [`the same batch made ${[...counts].join(', ')} intents; ${intents} are right`];
      },
      close: () => topology.close(),
    };
  },
});

const CLAIMS = 200;

/** Claims of new slots in a ledger that holds so many already. */
const claimingBeside = (slots: number): Side => ({
  name: slots.toLocaleString('en'),
  at: slots,
  syncs: 'each batch (SQLite, WAL, synchronous = FULL)',
  async open() {
    const folder = await folderWithSlots(slots);
    const data = await openEmbedded({ dataDir: folder.path, clock: systemClock });
    let made = slots;
    const claim = async (count: number): Promise<void> => {
      const fresh = Array.from({ length: count }, () => numberedDelivery((made += 1)));
      const answers = await data.ledger.insert(fresh);
      if (!answers.every(({ inserted }) => inserted)) throw new Error('a slot that is new was taken');
    };
    return {
      async round(round) {
        // Until the pages that new slots touch are in memory, too.
        const seconds = secondsOf(round);
        const begun = performance.now();
        let done = 0;
        while (performance.now() - begun < seconds * 1000) {
          await claim(CLAIMS);
          done += CLAIMS;
        }
        return { done, seconds: (performance.now() - begun) / 1000 };
      },
      async verify() {
        const held = (await data.ledger.countByState()).WAITING ?? 0;
        return held === made ? [] : [`${made} slots were claimed, ${held} are stored`];
      },
      async close() {
        await data.close();
        await folder.remove();
      },
    };
  },
});

/** So many engines over the backlog of one topic, each side on a broker of its own, since a cluster's topics have fixed names. */
const engines = (count: number): Side =>
  evaluatingOnKafka({
    name: count === 1 ? 'one engine' : `${count} engines`,
    at: count,
    syncs: ENGINE_SYNCS,
    stand: engineStand(),
    start: (services) => startEngines(services, count),
  });

const growing = (title: string, over: string, counted: string, sides: readonly Side[]): BenchCase => ({
  title,
  counted,
  sides,
  comparisons: [],
  growth: { over, measure: 'rate' },
});

const usual: Shop = { workspaces: 1, rules: 1, bytes: EVENT_BYTES };

export const growth: Bench = {
  name: 'growth',
  title: 'How cost grows',
  what: `What the engine does with a batch of ${BATCH} events, from the bytes of the log to the records that follow, and what the ledger does
with new slots beside those it holds (filled beforehand, indexes made over all of them at once), while one thing grows and all else stays; and how 1 to 4 engine processes work off one backlog, as in the bench \`evaluate\`: more of them than the machine
has cores cannot be faster on it. Both axes of the charts are logarithmic.`,
  cases: [
    growing(
      'workspaces, each with a stream and a rule',
      'workspaces',
      'events',
      [1, 10, 100, 1_000].map((workspaces) => evaluating(workspaces, { ...usual, workspaces })),
    ),
    growing(
      'rules on one stream',
      'rules',
      'events',
      [1, 10, 100, 1_000].map((rules) => evaluating(rules, { ...usual, rules })),
    ),
    growing(
      'bytes of an event',
      'bytes of an event',
      'events',
      [200, 732, 4_096, 32_768, 262_144].map((bytes) => evaluating(bytes, { ...usual, bytes })),
    ),
    growing('slots in the ledger', 'slots', 'claims', [10_000, 100_000, 1_000_000].map(claimingBeside)),
    growing('engine processes on Kafka', 'engine processes', 'events', [1, 2, 4].map(engines)),
  ],
};
