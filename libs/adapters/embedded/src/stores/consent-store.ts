import type { Consents } from '@carillon/domain';
import type { ConsentStore } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { documentPage } from './document-pages.ts';

type ConsentRow = { readonly sequence: number; readonly document: string };

export const consentWrites = ({ sql }: Pick<Transaction, 'sql'>) => ({
  'consents.replace'(next: Consents): boolean {
    const { workspace, person, version, unpublished, updatedAt } = next;
    const since = unpublished.length > 0 ? updatedAt : null;
    const document = JSON.stringify(next);
    if (version === 1) {
      const insert = `INSERT INTO consents (workspace, person, version, unpublished_since, document) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`;
      return sql.run(insert, workspace, person, version, since, document) > 0;
    }
    const update = `UPDATE consents SET version = ?, unpublished_since = ?, document = ?
      WHERE workspace = ? AND person = ? AND version = ?`;
    return sql.run(update, version, since, document, workspace, person, version - 1) > 0;
  },
});
type ConsentWrites = ReturnType<typeof consentWrites>;

const fromRow = ({ document }: Pick<ConsentRow, 'document'>): Consents => JSON.parse(document) as Consents;

export const createConsentStore = (reader: Reader, write: Write<ConsentWrites>): ConsentStore => ({
  async find(workspace, persons) {
    const places = persons.map(() => '?').join(', ');
    const rows = reader.all(
      `SELECT document FROM consents WHERE workspace = ? AND person IN (${places})`,
      workspace,
      ...persons,
    ) as ConsentRow[];
    return rows.map(fromRow);
  },
  async replace(next) {
    const bytes = 512 + 300 * (next.words.length + next.unpublished.length);
    return (await write('consents.replace', { bytes }, next)) ? 'done' : 'stale';
  },
  async unpublished(before, limit) {
    const oldest = `SELECT document FROM consents WHERE unpublished_since < ? ORDER BY unpublished_since LIMIT ?`;
    return (reader.all(oldest, before, limit) as ConsentRow[]).map(fromRow);
  },
  list: async (workspace, limit, cursor) => documentPage(reader, 'consents', fromRow, workspace, limit, cursor),
});
