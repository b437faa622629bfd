import { CarillonError, type Duration } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { pause } from '@carillon/runtime';
import type { ControlPorts } from '../ports.ts';

/** A consumer group of a topic. */
export type Reader = readonly [group: string, topic: TopicName];

/** Delivery has all intents in custody. */
export const CUSTODY: readonly Reader[] = [['delivery', 'carillon.intents']];
/** All questions are with their partners. */
export const QUESTIONS: readonly Reader[] = [['engine', 'carillon.triggers']];
/** All recorded answers have their messages in the ledger. */
export const ANSWERS: readonly Reader[] = [['engine', 'carillon.lookups'], ...CUSTODY];
/** All events are evaluated, all questions are with their partners, and all messages that came of either are in the ledger. */
export const EVALUATION: readonly Reader[] = [['engine', 'carillon.events'], ...QUESTIONS, ...ANSWERS];

const POLL: Duration = 50;
const MAX_POLLS = 200;

/**
 * Waits until each reader has read its topic up to the end that the topic has at its turn. Readers wait in their order, so that a later one
 * has the records that an earlier one makes. Rejects with a transient error if a reader does not.
 */
export async function waitForReaders(
  readers: readonly Reader[],
  { log, checkpoints }: Pick<ControlPorts, 'log' | 'checkpoints'>,
  stop: AbortSignal,
): Promise<void> {
  for (const [group, topic] of readers) {
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const { end } = await log.bounds(topic, partition);
      const isRead = async (): Promise<boolean> =>
        end === 0 || ((await checkpoints.load(group, topic, partition))?.next ?? 0) >= end;
      for (let polls = 0; !(await isRead()); polls += 1) {
        if (stop.aborted || polls === MAX_POLLS) {
          throw new CarillonError('log_unavailable', `${group} has not read all records of ${topic} yet`);
        }
        await pause(POLL, stop);
      }
    }
  }
}
