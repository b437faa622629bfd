import type { SentToPerson } from '@carillon/domain';
import type { LimitStore } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { documentPage } from './document-pages.ts';

type LimitRow = { readonly sequence: number; readonly document: string };

export const limitWrites = ({ sql }: Pick<Transaction, 'sql'>) => ({
  'limits.replace'(next: SentToPerson, before: string | null): boolean {
    const { workspace, person, revision, keptUntil } = next;
    const document = JSON.stringify(next);
    if (before === null) {
      const insert = `INSERT INTO limit_entries (workspace, person, revision, kept_until, document) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`;
      return sql.run(insert, workspace, person, revision, keptUntil, document) > 0;
    }
    const update = `UPDATE limit_entries SET revision = ?, kept_until = ?, document = ?
      WHERE workspace = ? AND person = ? AND revision = ?`;
    return sql.run(update, revision, keptUntil, document, workspace, person, before) > 0;
  },
});
type LimitWrites = ReturnType<typeof limitWrites>;

const fromRow = ({ document }: Pick<LimitRow, 'document'>): SentToPerson => JSON.parse(document) as SentToPerson;

export const createLimitStore = (reader: Reader, write: Write<LimitWrites>): LimitStore => ({
  async find(workspace, person) {
    const select = 'SELECT document FROM limit_entries WHERE workspace = ? AND person = ?';
    const row = reader.get(select, workspace, person) as LimitRow | undefined;
    return row ? fromRow(row) : null;
  },
  async replace(next, before) {
    const bytes = 512 + 300 * next.entries.length;
    return (await write('limits.replace', { bytes }, next, before)) ? 'done' : 'stale';
  },
  list: async (workspace, limit, cursor) => documentPage(reader, 'limit_entries', fromRow, workspace, limit, cursor),
});
