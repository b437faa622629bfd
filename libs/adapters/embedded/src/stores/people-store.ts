import type { PeopleKind, PeopleRecord } from '@carillon/domain';
import { parseJson } from '@carillon/kernel';
import type { PeopleStore } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

type Row = { readonly id: string; readonly document: string };

export const peopleWrites = ({ sql }: Pick<Transaction, 'sql'>) => ({
  'people.replace'(record: PeopleRecord): 'done' | 'stale' | 'taken' {
    const { kind, id, version, key, of, endsAt } = record;
    const holder =
      key === null ? undefined : sql.get('SELECT id FROM people WHERE kind = ? AND lookup_key = ?', kind, key);
    const before = Number(sql.get('SELECT version FROM people WHERE kind = ? AND id = ?', kind, id)?.['version'] ?? 0);
    if (before !== version - 1) return 'stale';
    if (holder !== undefined && holder['id'] !== id) return 'taken';
    sql.run(
      'INSERT OR REPLACE INTO people (kind, id, version, lookup_key, belongs_to, ends_at, document) VALUES (?, ?, ?, ?, ?, ?, ?)',
      kind,
      id,
      version,
      key,
      of,
      endsAt,
      JSON.stringify(record),
    );
    return 'done';
  },
  'people.remove': (kind: string, id: string): boolean =>
    sql.run('DELETE FROM people WHERE kind = ? AND id = ?', kind, id) > 0,
  'people.removeOf': (kind: string, of: string, but: string): number =>
    sql.run('DELETE FROM people WHERE belongs_to = ? AND kind = ? AND id <> ?', of, kind, but),
  'people.removeEnded': (before: number, limit: number): number =>
    sql.run(
      'DELETE FROM people WHERE (kind, id) IN (SELECT kind, id FROM people WHERE ends_at < ? LIMIT ?)',
      before,
      limit,
    ),
});
export type PeopleWrites = ReturnType<typeof peopleWrites>;

/** What is stored under a kind is a record of that kind. */
const fromRow = <Kind extends PeopleKind>({ document }: Pick<Row, 'document'>): PeopleRecord<Kind> =>
  parseJson(document) as unknown as PeopleRecord<Kind>;

export const createPeopleStore = (reader: Reader, write: Write<PeopleWrites>): PeopleStore => ({
  async find<Kind extends PeopleKind>(kind: Kind, id: string) {
    const row = reader.get('SELECT document FROM people WHERE kind = ? AND id = ?', kind, id);
    return row === undefined ? null : fromRow<Kind>(row as Row);
  },
  async findByKey<Kind extends PeopleKind>(kind: Kind, key: string) {
    const row = reader.get('SELECT document FROM people WHERE kind = ? AND lookup_key = ?', kind, key);
    return row === undefined ? null : fromRow<Kind>(row as Row);
  },
  async list<Kind extends PeopleKind>(kind: Kind, { of }: { readonly of?: string }, limit: number, cursor?: string) {
    const [after] = cursor === undefined ? [] : keysOf(cursor, 'string');
    const { where, values } = conditionsOf([
      ['kind = ?', kind],
      ['belongs_to = ?', of],
      ['id > ?', after],
    ]);
    const page = `SELECT id, document FROM people ${where} ORDER BY id LIMIT ?`;
    const rows = reader.all(page, ...values, limit + 1) as Row[];
    return pageOf(rows, limit, fromRow<Kind>, (row) => cursorAt(row.id));
  },
  replace: (record) => write('people.replace', { bytes: 512 + JSON.stringify(record).length }, record),
  remove: (kind, id) => write('people.remove', { bytes: 128 }, kind, id),
  removeOf: (kind, of, but = '') => write('people.removeOf', { bytes: 128, rows: 100 }, kind, of, but),
  removeEnded: (before, limit) => write('people.removeEnded', { bytes: 64, rows: limit }, before, limit),
});
