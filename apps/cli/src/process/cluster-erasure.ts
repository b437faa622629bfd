import { keptByBrokers, type KafkaConnection } from '@carillon/adapter-kafka';
import type { MongoStores } from '@carillon/adapter-mongodb';
import { keyOfTopic, PERSONAL_TOPICS } from '@carillon/contracts';
import { CarillonError, type Instant } from '@carillon/kernel';
import type { ErasureSteps, EventLog } from '@carillon/ports';
import { pause } from '@carillon/runtime';
import { ERASED_RECORDS_FRESH_FOR, type ErasedRecords } from './erased-records.ts';

/** Topics whose records name people by keyed hash only. They are kept forever. */
const HASHED_TOPICS: ReadonlySet<string> = new Set(['carillon.consents']);

/**
 * Steps of an erasure on a cluster. Records of Kafka cannot be changed, so they enter a list by which every process reads the log. Documents are
 * emptied by compare-and-set, so no writer has to pause: the store refuses a rule state that an engine loaded before the erasure, because it counts
 * erasures. At a new list each process starts its workers again, which then load what the stores have.
 */
export function clusterErasure(
  log: Pick<EventLog, 'partitions' | 'bounds' | 'read'>,
  { eraser }: Pick<MongoStores, 'eraser'>,
  erased: ErasedRecords,
  { connection, yieldTurn }: { readonly connection: KafkaConnection; readonly yieldTurn: () => Promise<unknown> },
): ErasureSteps {
  /** Resolves when every process reads the log by a new list, with workers that remember nothing from before. */
  async function renewReaders(): Promise<void> {
    await erased.publish();
    await pause(ERASED_RECORDS_FRESH_FOR);
  }

  return {
    log,
    topics: PERSONAL_TOPICS,
    pause: yieldTurn,
    entries: (work, moment) => eraser.entries(work, moment),
    async eraseRecords(page, moment) {
      await erased.add(page.topic, page.partition, page.records);
      await eraser.forgetRecords(page, moment);
    },
    async pauseConsumers() {
      await renewReaders();
      return () => undefined;
    },
    finish: renewReaders,
    async bytesUntil(now): Promise<Instant> {
      const topics = PERSONAL_TOPICS.filter((topic) => !HASHED_TOPICS.has(topic));
      let longest = 0;
      for (const [topic, kept] of await keptByBrokers(connection, topics)) {
        if (kept === null) {
          const key = keyOfTopic(topic);
          throw new CarillonError(
            'wrong_state',
            `${topic} is kept forever, so what it holds of a person would stay: write retention: { ${key}: 90d } into carillon.yaml, apply it, then erase`,
          );
        }
        longest = Math.max(longest, kept);
      }
      return now + longest;
    },
  };
}
