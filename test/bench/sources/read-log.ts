import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import type { TopicName } from '@carillon/ports';
import { DATABASE_FILE } from '../filled-folders.ts';

const COME_WITHIN = 180_000;

/** How far the log of a running embedded product is, read beside it from its file. */
export type LogEnds = {
  /** Records that were ever appended to a topic. */
  count(topic: TopicName): number;
  /** Resolves once a topic has as many, to the moment by `performance.now()`. */
  until(topic: TopicName, count: number): Promise<number>;
  close(): void;
};

export function openLogEnds(dataDir: string): LogEnds {
  const db = new DatabaseSync(join(dataDir, DATABASE_FILE), { readOnly: true, timeout: 5_000 });
  const ends = db.prepare('SELECT sum(next) AS count FROM partitions WHERE topic = ?');
  const count = (topic: TopicName): number => Number(ends.get(topic)?.['count'] ?? 0);
  return {
    count,
    async until(topic, wanted) {
      for (const deadline = performance.now() + COME_WITHIN; count(topic) < wanted; await sleep(1)) {
        if (performance.now() > deadline) throw new Error(`${count(topic)} of ${wanted} records came to ${topic}`);
      }
      return performance.now();
    },
    close: () => db.close(),
  };
}
