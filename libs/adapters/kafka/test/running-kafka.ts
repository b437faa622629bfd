import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import type { LogId } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import type { UnderTest } from '@carillon/testing';
import { startKafkaProxy, type KafkaProxy } from '@carillon/testing/faults';
import { forgetTopics, startKafka, type KafkaOptions, type KafkaService } from '@carillon/testing/services';
import { afterAll, beforeAll } from 'vitest';
import { sharedServer, takeTurn } from '../../../../test/support/shared-servers.ts';
import { ensureTopics, type KafkaConnection, openKafkaLog, type KafkaLog, type KafkaLogOptions } from '../src/index.ts';

/** Brokers start in seconds; on a machine that does much else, in minutes. */
export const START_TIMEOUT = 300_000;

/** A broker with the product's topics, a proxy before it, and logs that reach it through the proxy. */
export type ReachedKafka = {
  readonly proxy: KafkaProxy;
  readonly connection: KafkaConnection;
  readonly open: (options?: Partial<KafkaLogOptions>) => Promise<KafkaLog>;
  underTest(): Promise<UnderTest<EventLog>>;
};
/** The same, where the broker is the test's own. */
export type RunningKafka = ReachedKafka & { readonly kafka: KafkaService };

const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
export const freshLogId = (): LogId =>
  `log_${Array.from({ length: 26 }, () => LETTERS[Math.floor(Math.random() * 32)]).join('')}` as LogId;

export const forOneBroker = { singleBroker: true, freshLogId };

/** Long enough for a busy machine; what has to fail soon says so itself. */
const PATIENT: Partial<KafkaLogOptions> = { appendTimeout: 8000, readTimeout: 30_000, stopPatience: 500 };

async function reach(brokers: readonly string[], singleBroker: boolean): Promise<ReachedKafka> {
  const proxy = await startKafkaProxy(brokers);
  const connection: KafkaConnection = { brokers: proxy.brokers, clientId: 'carillon-test', requestTimeout: 5000 };
  await ensureTopics(connection, TOPIC_DEFINITIONS, { ...forOneBroker, singleBroker });
  const open = (more: Partial<KafkaLogOptions> = {}): Promise<KafkaLog> =>
    openKafkaLog({ connection, ...PATIENT, ...more });
  return {
    proxy,
    connection,
    open,
    async underTest() {
      const log = await open();
      return {
        port: log,
        faults: {
          breakWrites: async () => proxy.down(),
          mendWrites: async () => proxy.up(),
        },
        close: () => log.close(),
      };
    },
  };
}

/** Something for the tests of one block, and how it is ended. */
type Held<Thing> = { readonly thing: Thing; readonly end: () => Promise<void> };

function forBlock<Thing>(make: () => Promise<Held<Thing>>): () => Thing {
  let held: Held<Thing> | undefined;
  beforeAll(async () => {
    held = await make();
  }, START_TIMEOUT);
  afterAll(() => held?.end(), START_TIMEOUT);
  return () => {
    if (!held) throw new Error('only within a test');
    return held.thing;
  };
}

/** A broker that only the tests of this block use, and may kill. */
export const runningKafka = (options: KafkaOptions): (() => RunningKafka) =>
  forBlock(async () => {
    const kafka = await startKafka(options);
    const reached = await reach(kafka.brokers, options.nodes !== 3);
    const end = async (): Promise<void> => {
      await reached.proxy.stop();
      await kafka.stop();
    };
    return { thing: { ...reached, kafka }, end };
  });

/** The broker of this run, with topics that nobody else has, for as long as the tests of this block last. */
export const sharedKafka = (): (() => ReachedKafka) =>
  forBlock(async () => {
    const { brokers } = await sharedServer('kafka');
    const giveBack = await takeTurn('topics');
    await forgetTopics(brokers, 'carillon.');
    const reached = await reach(brokers, true);
    const end = async (): Promise<void> => {
      await reached.proxy.stop();
      giveBack();
    };
    return { thing: reached, end };
  });
