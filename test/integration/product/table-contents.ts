import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { untilFound } from '@carillon/testing';

const AUDIT = `SELECT id FROM partitions WHERE topic = 'carillon.audit'`;
/** Places of records per partition id (libs/adapters/embedded/src/log/places.ts). */
const SPAN = 2 ** 40;
/** Tables with records of the audit, and how their other rows are selected. */
const WITHOUT_AUDIT: Readonly<Record<string, string>> = {
  partitions: `WHERE id NOT IN (${AUDIT})`,
  records: `WHERE place / ${SPAN} NOT IN (${AUDIT})`,
  checkpoints: `WHERE topic <> 'carillon.audit'`,
};

/** Tables that a run writes, and those that every call of the management API writes. */
export const WRITTEN_BY_RUNS = [
  'runs',
  'run_rows',
  'run_lookups',
  'jobs',
  'audit_seals',
  'kept_answers',
  'key_uses',
  'leases',
  'people',
];

/** Resolves once each consumer of a data folder has read its topics to their ends, so that nothing but a run is written. */
export const untilAllIsRead = (dataDir: string): Promise<true> =>
  untilFound('all consumers at the ends of their topics', async () => {
    const db = new DatabaseSync(join(dataDir, 'carillon.db'), { readOnly: true, timeout: 5_000 });
    try {
      const behind = db
        .prepare(
          `SELECT 1 FROM checkpoints c JOIN partitions p ON p.topic = c.topic AND p.partition = c.partition
           WHERE c.next < p.next AND c.topic <> 'carillon.audit'`,
        )
        .all();
      return behind.length === 0 ? true : undefined;
    } finally {
      db.close();
    }
  });

/** Returns a hash of the rows of each table of a data folder, by table. Records of the audit are left out. */
export function tableContents(dataDir: string): ReadonlyMap<string, string> {
  const db = new DatabaseSync(join(dataDir, 'carillon.db'), { readOnly: true, timeout: 5_000 });
  try {
    db.exec('BEGIN');
    const tables = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).all();
    return new Map(
      tables.map(({ name }) => {
        const table = String(name);
        const rows = db.prepare(`SELECT * FROM "${table}" ${WITHOUT_AUDIT[table] ?? ''}`).all();
        const texts = rows.map((row) =>
          JSON.stringify(row, (_key, value: unknown) =>
            value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
          ),
        );
        return [table, createHash('sha256').update(texts.toSorted().join('\n')).digest('hex')];
      }),
    );
  } finally {
    db.close();
  }
}
