import { CarillonError } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import type { Backend } from './backend.ts';

/** Consumer groups with their topics. Their lag shows what is still to be done. */
export const READERS = [
  ['engine', 'carillon.events'],
  ['engine', 'carillon.triggers'],
  ['engine', 'carillon.lookups'],
  ['engine', 'carillon.cohorts'],
  ['delivery', 'carillon.intents'],
  ['delivery', 'carillon.receipts'],
  ['delivery', 'carillon.consents'],
  ['control', 'carillon.events'],
  ['control', 'carillon.outcomes'],
  ['control', 'carillon.evaluations'],
  ['control', 'carillon.dead-letters'],
] as const;

/**
 * Rejects with `wrong_log` if a saved position is beyond the end of the log. The log was then replaced or cut short,
 * and positions would refer to other records, so acknowledged events would be skipped. Every role refuses to start,
 * because each would do more damage.
 */
export async function refuseShorterLog(backend: Pick<Backend, 'log' | 'checkpoints'>): Promise<void> {
  for (const [group, topic] of READERS) {
    const beyond = await positionBeyond(backend, group, topic);
    if (beyond !== null) throw new CarillonError('wrong_log', beyond);
  }
}

/** Describes a position of the group beyond the end of its partition, or returns null. */
export async function positionBeyond(
  backend: Pick<Backend, 'log' | 'checkpoints'>,
  group: string,
  topic: TopicName,
): Promise<string | null> {
  const { log, checkpoints } = backend;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const next = (await checkpoints.load(group, topic, partition))?.next ?? 0;
    if (next === 0) continue;
    const { end } = await log.bounds(topic, partition);
    if (next <= end) continue;
    return (
      `${group} had read ${topic}/${partition} up to ${next}, and it ends at ${end}: was the topic created again, or did a broker lose records? ` +
      'Restore log and stores from one backup, or start again with empty ones'
    );
  }
  return null;
}

/** Records of a topic that a group has not finished. */
export async function lagOf({ log, checkpoints }: Backend, group: string, topic: TopicName): Promise<number> {
  let lag = 0;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const { start, end } = await log.bounds(topic, partition);
    const next = (await checkpoints.load(group, topic, partition))?.next ?? start;
    lag += Math.max(0, end - Math.max(next, start));
  }
  return lag;
}

/** Reads where the slowest reader of each partition stands: returns the first offset that is not read, infinite without a reader. */
export async function readUnreadOffsets({
  log,
  checkpoints,
}: Pick<Backend, 'log' | 'checkpoints'>): Promise<(topic: TopicName, partition: number) => number> {
  const unread = new Map<string, number>();
  for (const [group, topic] of READERS) {
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const next = (await checkpoints.load(group, topic, partition))?.next ?? 0;
      const key = `${topic} ${partition}`;
      unread.set(key, Math.min(next, unread.get(key) ?? Number.POSITIVE_INFINITY));
    }
  }
  return (topic, partition) => unread.get(`${topic} ${partition}`) ?? Number.POSITIVE_INFINITY;
}
