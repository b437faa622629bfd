import type { Suppression, SuppressionList } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

type SuppressionRow = {
  sequence: number;
  workspace: string;
  channel: Suppression['channel'];
  address: string;
  source: Suppression['source'];
  detail: string;
  delivery_id: string | null;
  at: number;
};

export const suppressionWrites = ({ sql }: Transaction) => ({
  'suppressions.add'(item: Suppression): void {
    sql.run(
      `INSERT INTO suppressions (workspace, channel, address, source, detail, delivery_id, at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
      item.workspace,
      item.channel,
      item.address,
      item.source,
      item.detail,
      item.deliveryId,
      item.at,
    );
  },
  'suppressions.remove'(workspace: string, channel: string, address: string): boolean {
    const removed = sql.run(
      'DELETE FROM suppressions WHERE workspace = ? AND channel = ? AND address = ?',
      workspace,
      channel,
      address,
    );
    return removed === 1;
  },
});
type SuppressionWrites = ReturnType<typeof suppressionWrites>;

export const createSuppressionList = (reader: Reader, write: Write<SuppressionWrites>): SuppressionList => ({
  add: (suppression) => write('suppressions.add', { bytes: suppression.detail.length + 512 }, suppression),
  remove: (workspace, channel, address) => write('suppressions.remove', { bytes: 512 }, workspace, channel, address),
  async find(workspace, channel, address) {
    const row = reader.get(
      'SELECT * FROM suppressions WHERE workspace = ? AND channel = ? AND address = ?',
      workspace,
      channel,
      address,
    ) as SuppressionRow | undefined;
    return row ? fromRow(row) : null;
  },
  async list(workspace, limit, cursor) {
    const [before] = cursor === undefined ? [] : keysOf(cursor, 'number');
    const { where, values } = conditionsOf([
      ['workspace = ?', workspace],
      ['sequence < ?', before],
    ]);
    const rows = reader.all(
      `SELECT * FROM suppressions ${where} ORDER BY sequence DESC LIMIT ?`,
      ...values,
      limit + 1,
    ) as SuppressionRow[];
    return pageOf(rows, limit, fromRow, (row) => cursorAt(row.sequence));
  },
});

const fromRow = (row: SuppressionRow): Suppression => ({
  workspace: row.workspace,
  channel: row.channel,
  address: row.address,
  source: row.source,
  detail: row.detail,
  deliveryId: row.delivery_id,
  at: row.at,
});
