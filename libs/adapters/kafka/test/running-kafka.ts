import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import type { LogId } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import type { UnderTest } from '@carillon/testing';
import { startKafkaProxy, type KafkaProxy } from '@carillon/testing/faults';
import { startKafka, type KafkaOptions, type KafkaService } from '@carillon/testing/services';
import { afterAll, beforeAll } from 'vitest';
import { ensureTopics, type KafkaConnection, openKafkaLog, type KafkaLog, type KafkaLogOptions } from '../src/index.ts';

/** Brokers start in seconds; on a machine that does much else, in minutes. */
export const START_TIMEOUT = 300_000;

/** A broker for the tests of one block, a proxy before it, and logs that reach it through the proxy. */
export type RunningKafka = {
  readonly kafka: KafkaService;
  readonly proxy: KafkaProxy;
  readonly connection: KafkaConnection;
  open(options?: Partial<KafkaLogOptions>): Promise<KafkaLog>;
  underTest(): Promise<UnderTest<EventLog>>;
};

const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
export const freshLogId = (): LogId =>
  `log_${Array.from({ length: 26 }, () => LETTERS[Math.floor(Math.random() * 32)]).join('')}` as LogId;

export const forOneBroker = { singleBroker: true, freshLogId };

/** Long enough for a busy machine; what has to fail soon says so itself. */
const PATIENT: Partial<KafkaLogOptions> = { appendTimeout: 8000, readTimeout: 30_000, stopPatience: 500 };

export function runningKafka(options: KafkaOptions): () => RunningKafka {
  let running: RunningKafka | undefined;
  let stop: () => Promise<void> = () => Promise.resolve();

  beforeAll(async () => {
    const kafka = await startKafka(options);
    const proxy = await startKafkaProxy(kafka.brokers);
    stop = async () => {
      await proxy.stop();
      await kafka.stop();
    };
    const connection: KafkaConnection = { brokers: proxy.brokers, clientId: 'carillon-test', requestTimeout: 5000 };
    await ensureTopics(connection, TOPIC_DEFINITIONS, { ...forOneBroker, singleBroker: options.nodes !== 3 });
    const open = (more: Partial<KafkaLogOptions> = {}): Promise<KafkaLog> =>
      openKafkaLog({ connection, ...PATIENT, ...more });
    running = {
      kafka,
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
  }, START_TIMEOUT);
  afterAll(() => stop(), START_TIMEOUT);

  return () => {
    if (!running) throw new Error('only within a test');
    return running;
  };
}
