import { formsOf, formsOnChannels, type ChannelName } from '@carillon/domain/channels';
import type { SuppressionSource } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';
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
  added_by: string | null;
};

export const suppressionWrites = ({ sql }: Transaction) => ({
  'suppressions.add'(items: readonly Suppression[]): number {
    let added = 0;
    for (const item of items) {
      added += sql.run(
        `INSERT INTO suppressions (workspace, channel, address, source, detail, delivery_id, at, added_by)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO ${item.source === 'stop' ? 'UPDATE SET at = max(at, excluded.at)' : 'NOTHING'}`,
        item.workspace,
        item.channel,
        formsOf(item.channel, item.address)[0] ?? item.address,
        item.source,
        item.detail,
        item.deliveryId,
        item.at,
        item.by ?? null,
      );
    }
    return added;
  },
  'suppressions.remove'(
    workspace: string,
    channel: ChannelName,
    address: string,
    source?: SuppressionSource,
    notAfter?: Instant,
  ): boolean {
    const forms = formsOf(channel, address);
    const narrowed = [
      [' AND source = ?', source],
      [' AND at <= ?', notAfter],
    ].filter(([, value]) => value !== undefined);
    const where = `${withAny(forms)}${narrowed.map(([words]) => words).join('')}`;
    const values = narrowed.map(([, value]) => value as string | number);
    return sql.run(`DELETE FROM suppressions ${where}`, workspace, channel, ...forms, ...values) > 0;
  },
});
const withAny = (forms: readonly string[]): string =>
  `WHERE workspace = ? AND channel = ? AND address IN (${forms.map(() => '?').join(', ')})`;

/** Said with its channel, so that the unique index finds it within a workspace. */
function withForms(address: string, channel?: ChannelName): readonly [string, ...string[]] {
  const pairs = formsOnChannels(address, channel && [channel]).flatMap(([name, forms]) =>
    forms.map((form) => [name, form] as const),
  );
  return [`(channel, address) IN (VALUES ${pairs.map(() => '(?, ?)').join(', ')})`, ...pairs.flat()];
}

const bytesOf = (items: readonly Suppression[]): number =>
  items.reduce((sum, { detail }) => sum + detail.length + 512, 0);

type SuppressionWrites = ReturnType<typeof suppressionWrites>;

export const createSuppressionList = (reader: Reader, write: Write<SuppressionWrites>): SuppressionList => ({
  async add(suppression) {
    await write('suppressions.add', { bytes: bytesOf([suppression]) }, [suppression]);
  },
  addAll: (suppressions) => write('suppressions.add', { bytes: bytesOf(suppressions) }, suppressions),
  remove: (workspace, channel, address, source, notAfter) =>
    write('suppressions.remove', { bytes: 512 }, workspace, channel, address, source, notAfter),
  async find(workspace, channel, address) {
    const forms = formsOf(channel, address);
    const oldest = `SELECT * FROM suppressions ${withAny(forms)} ORDER BY at, sequence LIMIT 1`;
    const row = reader.get(oldest, workspace, channel, ...forms) as SuppressionRow | undefined;
    return row ? fromRow(row) : null;
  },
  async sources(workspace, channel, address) {
    const forms = formsOf(channel, address);
    const all = `SELECT * FROM suppressions ${withAny(forms)} ORDER BY at, sequence`;
    return (reader.all(all, workspace, channel, ...forms) as SuppressionRow[]).map(fromRow);
  },
  async list({ workspace, channel, address, source }, limit, cursor) {
    const [before] = cursor === undefined ? [] : keysOf(cursor, 'number');
    const { where, values } = conditionsOf([
      ['workspace = ?', workspace],
      ['channel = ?', channel],
      ['source = ?', source],
      ...(address === undefined ? [] : [withForms(address, channel)]),
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
  ...(row.added_by !== null && { by: row.added_by }),
});
