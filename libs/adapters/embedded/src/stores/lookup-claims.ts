import type { LookupClaim, LookupClaims } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

type PositionRow = { position: string };
type ClaimRow = PositionRow & { trigger_id: string; at: number };

export const claimWrites = ({ sql }: Transaction) => ({
  'claims.claim'(claims: readonly LookupClaim[]): string[] {
    return claims.map(({ triggerId, position, at }) => {
      sql.run(
        'INSERT INTO lookup_claims (trigger_id, position, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
        triggerId,
        position,
        at,
      );
      const first = sql.get(
        'SELECT position FROM lookup_claims WHERE trigger_id = ? ORDER BY sequence LIMIT 1',
        triggerId,
      ) as PositionRow | undefined;
      return first?.position ?? position;
    });
  },
});
type ClaimWrites = ReturnType<typeof claimWrites>;

export const createLookupClaims = (reader: Reader, write: Write<ClaimWrites>): LookupClaims => ({
  async claim(claims) {
    if (claims.length === 0) return [];
    return write('claims.claim', { bytes: claims.length * 128, rows: claims.length }, claims);
  },
  async get(triggerId) {
    const rows = reader.all(
      'SELECT position FROM lookup_claims WHERE trigger_id = ? ORDER BY sequence',
      triggerId,
    ) as PositionRow[];
    const [first, ...rest] = rows.map(({ position }) => position);
    return first === undefined ? null : { position: first, superseded: rest };
  },
  async list(beginning, limit, cursor) {
    const [after] = cursor === undefined ? [''] : keysOf(cursor, 'string');
    // The first claim of an id has the smallest sequence: SQLite takes the other columns from that row.
    const rows = reader.all(
      `SELECT trigger_id, position, at, min(sequence) FROM lookup_claims
       WHERE trigger_id >= ? AND trigger_id < ? AND trigger_id > ? GROUP BY trigger_id ORDER BY trigger_id LIMIT ?`,
      beginning,
      `${beginning}\u{10FFFF}`,
      after,
      limit + 1,
    ) as ClaimRow[];
    return pageOf(
      rows,
      limit,
      ({ trigger_id: triggerId, position, at }) => ({ triggerId, position, at }),
      (row) => cursorAt(row.trigger_id),
    );
  },
});
