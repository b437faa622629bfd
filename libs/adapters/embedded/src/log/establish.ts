import type { DatabaseSync } from 'node:sqlite';
import { CarillonError } from '@carillon/kernel';
import type { Statements } from '../statements.ts';
import type { WriterSettings } from '../writing/protocol.ts';

export const DEFAULT_PARTITIONS = 8;

/**
 * Makes log id and topics at the first start. Later it only adds topics that this version brought; the number of
 * partitions never changes in place, because keys would move to partitions where their past is not.
 */
export function establishLog(db: DatabaseSync, sql: Statements, settings: WriterSettings): void {
  const stored = (
    sql.get("SELECT count(*) AS count FROM partitions WHERE topic = 'carillon.events'") as { count: number } | undefined
  )?.count;
  if (stored && settings.partitions !== null && settings.partitions !== stored) {
    throw new CarillonError(
      'invalid_configuration',
      `the log has ${stored} partitions and cannot be opened with ${settings.partitions}; their number never changes in place`,
    );
  }
  const count = stored || (settings.partitions ?? DEFAULT_PARTITIONS);
  const known = (sql.get('SELECT count(DISTINCT topic) AS topics FROM partitions') as { topics: number } | undefined)
    ?.topics;
  if (known === settings.topics.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    sql.run('INSERT INTO log_identity VALUES (1, ?, ?) ON CONFLICT DO NOTHING', settings.logId, settings.createdAt);
    db.exec('CREATE TABLE IF NOT EXISTS topic_retention (topic TEXT PRIMARY KEY, retention TEXT NOT NULL) STRICT');
    for (const { name, isSingleSequence, retention } of settings.topics) {
      const isThere = sql.get('SELECT 1 FROM partitions WHERE topic = ?', name) !== undefined;
      if (!isThere) sql.run('INSERT INTO topic_retention VALUES (?, ?) ON CONFLICT DO NOTHING', name, retention);
      const partitions = isSingleSequence ? 1 : count;
      for (let partition = 0; partition < partitions; partition += 1) {
        sql.run('INSERT INTO partitions (topic, partition) VALUES (?, ?) ON CONFLICT DO NOTHING', name, partition);
      }
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
