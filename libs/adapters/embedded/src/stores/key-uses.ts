import type { KeyUse, KeyUseStore } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

export const keyUseWrites = ({ sql }: Transaction) => ({
  'keyUses.record'(uses: readonly KeyUse[]): void {
    for (const { keyId, at } of uses) {
      sql.run(
        'INSERT INTO key_uses VALUES (?, ?) ON CONFLICT DO UPDATE SET used_at = MAX(used_at, excluded.used_at)',
        keyId,
        at,
      );
    }
  },
});
type KeyUseWrites = ReturnType<typeof keyUseWrites>;

export const createKeyUseStore = (reader: Reader, write: Write<KeyUseWrites>): KeyUseStore => ({
  record: (uses) => write('keyUses.record', { bytes: 64 * uses.length, rows: uses.length }, uses),
  async lastUses(keyIds) {
    const rows = reader.all(
      'SELECT key_id, used_at FROM key_uses WHERE key_id IN (SELECT value FROM json_each(?))',
      JSON.stringify(keyIds),
    ) as { key_id: string; used_at: number }[];
    return new Map(rows.map((row) => [row.key_id, row.used_at]));
  },
});
