import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

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
