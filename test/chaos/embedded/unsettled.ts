import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PROJECTIONS, READERS, unreadOf } from '../../harness/evidence.ts';
import type { Progress } from '../settle.ts';

/** The data folder belongs to the running product alone: its file is read from beside it, as `sqlite3` would. */
export const openBeside = (dataDir: string): DatabaseSync =>
  new DatabaseSync(join(dataDir, 'carillon.db'), { readOnly: true, timeout: 10_000 });

const PLACES = `
  SELECT partitions.partition, coalesce(checkpoints.next, partitions.start) AS next, partitions.start, partitions.next AS "end"
  FROM partitions LEFT JOIN checkpoints
    ON checkpoints.topic = partitions.topic AND checkpoints.partition = partitions.partition AND consumer_group = ?
  WHERE partitions.topic = ?`;

type Place = Parameters<typeof unreadOf>[0][number];

function readUnreadBy(readers: typeof READERS, database: DatabaseSync): readonly string[] {
  const places = database.prepare(PLACES);
  return readers.flatMap(([group, topic]) => unreadOf(places.all(group, topic) as Place[], `${group} on ${topic}`));
}

function readBehind(database: DatabaseSync): readonly string[] {
  const unpublished = database.prepare('SELECT id FROM deliveries WHERE has_unpublished = 1').all();
  return [
    ...readUnreadBy(PROJECTIONS, database),
    ...unpublished.map(({ id }) => `${String(id)}: an outcome is not on the log`),
  ];
}

/** What the running product has still to do. */
export function lookInto(database: DatabaseSync): Progress {
  const states = database.prepare('SELECT state, count(*) AS count FROM deliveries GROUP BY state').all();
  const kinds = database.prepare('SELECT DISTINCT kind FROM tasks WHERE done = 0').all();
  return {
    counts: Object.fromEntries(states.map(({ state, count }) => [state, count])) as Progress['counts'],
    unread: [...readUnreadBy(READERS, database), ...kinds.map(({ kind }) => `${String(kind)}: open`)],
    behind: readBehind(database),
  };
}

/** What is under way by itself in a product that runs over this folder, calls with a lease aside. */
export function readUnsettledBeside(dataDir: string): readonly string[] {
  const database = openBeside(dataDir);
  try {
    return [...readUnreadBy(READERS, database), ...readBehind(database)];
  } finally {
    database.close();
  }
}
