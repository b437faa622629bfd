import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ALL_READERS } from '../evidence.ts';

const FILE = 'carillon.db';

/** What is under way by itself in a product that runs over this folder, calls with a lease aside. Reads beside the product. */
export function readUnsettledBeside(dataDir: string): readonly string[] {
  const db = new DatabaseSync(join(dataDir, FILE), { readOnly: true, timeout: 5_000 });
  try {
    const behind = db.prepare(
      `SELECT log.partition FROM partitions log LEFT JOIN checkpoints read
       ON read.consumer_group = ? AND read.topic = log.topic AND read.partition = log.partition
       WHERE log.topic = ? AND log.next > coalesce(read.next, log.start)`,
    );
    const unread = ALL_READERS.flatMap(([group, topic]) =>
      behind.all(group, topic).map(({ partition }) => `${group} on ${topic}/${String(partition)}`),
    );
    const unpublished = db.prepare('SELECT id FROM deliveries WHERE has_unpublished = 1').all();
    return [...unread, ...unpublished.map(({ id }) => `${String(id)}: an outcome is not on the log`)];
  } finally {
    db.close();
  }
}
