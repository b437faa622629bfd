import { ensureTopics, openKafkaLog, type KafkaConnection, type KafkaLog } from '@carillon/adapter-kafka';
import { createIds } from '@carillon/adapter-system';
import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import { partitionOf } from '@carillon/domain/events';
import type { LogId } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import { EVENT_BYTES, createCorpus } from './corpus.ts';

const ids = createIds(new Uint8Array(32).fill(7));

/** The product's own log on these brokers, with its topics. */
export async function openProductLog(brokers: readonly string[]): Promise<KafkaLog> {
  const connection: KafkaConnection = { brokers, clientId: 'carillon-bench' };
  await ensureTopics(connection, TOPIC_DEFINITIONS, {
    singleBroker: true,
    freshLogId: () => `log_${ids.token()}` as LogId,
  });
  return openKafkaLog({ connection });
}

export type EventRecord = NewRecord & { readonly headers: Record<string, string>; readonly value: Buffer };

/** Made once and appended again and again, each time under a new id. */
const BODIES = 4000;

/** Records as the gateway makes them of events of the corpus, each with an id of its own; `run` tells runs apart. */
export function createRecords(run: string, partitions: number): { readonly next: () => EventRecord } {
  const corpus = createCorpus(EVENT_BYTES);
  const bodies = Array.from({ length: BODIES }, () => corpus.nextBytes());
  let n = 0;
  return {
    next() {
      n += 1;
      const key = `${run}-${n}`;
      return {
        topic: 'carillon.events',
        partition: partitionOf(key, partitions),
        key,
        value: bodies[n % bodies.length] ?? Buffer.alloc(0),
        headers: {
          kind: 'event',
          enc: '0',
          event_id: key,
          workspace: 'shop',
          stream: 'shop/orders',
          principal: 'api_key:backend/00000000',
        },
      };
    },
  };
}
