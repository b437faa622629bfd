import { createHash } from 'node:crypto';
import { TOPICS } from '@carillon/contracts';
import type { EventLog } from '@carillon/ports';
import { untilFound } from '@carillon/testing';
import type { Db } from 'mongodb';
import { WRITTEN_BY_RUNS } from '../../integration/product/table-contents.ts';

const AUDIT = 'carillon.audit';
const WITHIN_MS = 300_000;
const withoutAudit = TOPICS.filter((topic) => topic !== AUDIT);

/** Name and end of each partition, without those of the audit. Records are only ever appended. */
async function endsOf(log: EventLog): Promise<ReadonlyMap<string, string>> {
  const ends = withoutAudit.flatMap((topic) =>
    Array.from({ length: log.partitions(topic) }, async (_, partition) => {
      const { end } = await log.bounds(topic, partition);
      return [`${topic}/${partition}`, String(end)] as const;
    }),
  );
  return new Map(await Promise.all(ends));
}

/**
 * Returns the end of each partition and a hash of the documents of each collection, by name. Topics and collections that a run writes are left
 * out, as are those that every call of the management API writes.
 */
export async function clusterContents(log: EventLog, db: Db): Promise<ReadonlyMap<string, string>> {
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  const names = found.map(({ name }) => name).filter((name) => !WRITTEN_BY_RUNS.includes(name));
  const hashes = names.map(async (name) => {
    const documents = await db.collection(name).find().toArray();
    const texts = documents.filter(({ topic }) => topic !== AUDIT).map((document) => JSON.stringify(document));
    return [name, createHash('sha256').update(texts.toSorted().join('\n')).digest('hex')] as const;
  });
  return new Map([...(await endsOf(log)), ...(await Promise.all(hashes))]);
}

/** Resolves once each consumer has read its topics to their ends. */
export const untilAllIsRead = (log: EventLog, db: Db): Promise<true> =>
  untilFound(
    'all consumers at the ends of their topics',
    async () => {
      const ends = await endsOf(log);
      const checkpoints = await db.collection('checkpoints').find().toArray();
      const behind = checkpoints.some(
        ({ topic, partition, next }) => Number(next) < Number(ends.get(`${topic}/${partition}`) ?? 0),
      );
      return behind ? undefined : true;
    },
    WITHIN_MS,
  );
