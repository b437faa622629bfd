import type { Inbox, InboxFilter, InboxMessage } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

type InboxRow = { id: string; at: number; message: string };

export const inboxWrites = ({ sql }: Transaction) => ({
  'inbox.put'(id: string, at: number, message: string): void {
    sql.run('INSERT INTO inbox (id, at, message) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', id, at, message);
  },
});

/** What stands behind the beginning of an address is below the highest character there is. */
function beginsWithOneOf(beginnings: InboxFilter['to']): readonly (readonly [sql: string, ...values: string[]])[] {
  if (beginnings === undefined) return [];
  if (beginnings.length === 0) return [['FALSE']];
  const each = beginnings.map(() => 'recipient >= ? AND recipient < ?').join(' OR ');
  return [[`(${each})`, ...beginnings.flatMap((one) => [one, `${one}\u{10FFFF}`])]];
}

const read = (row: InboxRow): InboxMessage => JSON.parse(row.message) as InboxMessage;

export const createInbox = (reader: Reader, write: Write<ReturnType<typeof inboxWrites>>): Inbox => ({
  async put(message) {
    const text = JSON.stringify(message);
    await write('inbox.put', { bytes: text.length + 128 }, message.id, message.at, text);
  },
  async get(id) {
    const row = reader.get('SELECT id, at, message FROM inbox WHERE id = ?', id) as InboxRow | undefined;
    return row ? read(row) : null;
  },
  async list(filter, limit, cursor) {
    const [at, id] = cursor === undefined ? [] : keysOf(cursor, 'number', 'string');
    const { where, values } = conditionsOf([
      ['workspace = ?', filter.workspace],
      ['channel IN (SELECT value FROM json_each(?))', filter.channels && JSON.stringify(filter.channels)],
      ...beginsWithOneOf(filter.to),
      ['at >= ?', filter.since],
      ['at < ?', filter.before],
      ['(at, id) < (?, ?)', at, id],
    ]);
    const rows = reader.all(
      `SELECT id, at, message FROM inbox ${where} ORDER BY at DESC, id DESC LIMIT ?`,
      ...values,
      limit + 1,
    ) as InboxRow[];
    return pageOf(rows, limit, read, (row) => cursorAt(row.at, row.id));
  },
});
