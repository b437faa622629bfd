import { formsOf, type ChannelName } from '@carillon/domain';
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
      formsOf(item.channel, item.address)[0] ?? item.address,
      item.source,
      item.detail,
      item.deliveryId,
      item.at,
    );
  },
  'suppressions.remove'(workspace: string, channel: ChannelName, address: string): boolean {
    const forms = formsOf(channel, address);
    return sql.run(`DELETE FROM suppressions ${withAny(forms)}`, workspace, channel, ...forms) > 0;
  },
});
const withAny = (forms: readonly string[]): string =>
  `WHERE workspace = ? AND channel = ? AND address IN (${forms.map(() => '?').join(', ')})`;

type SuppressionWrites = ReturnType<typeof suppressionWrites>;

export const createSuppressionList = (reader: Reader, write: Write<SuppressionWrites>): SuppressionList => ({
  add: (suppression) => write('suppressions.add', { bytes: suppression.detail.length + 512 }, suppression),
  remove: (workspace, channel, address) => write('suppressions.remove', { bytes: 512 }, workspace, channel, address),
  async find(workspace, channel, address) {
    const forms = formsOf(channel, address);
    const row = reader.get(`SELECT * FROM suppressions ${withAny(forms)} LIMIT 1`, workspace, channel, ...forms) as
      | SuppressionRow
      | undefined;
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
