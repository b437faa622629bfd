import type { Reader } from '../reader.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

/** Tables that keep a document in each row, numbered anew with every write. */
type DocumentTable = 'consents';

/** Documents of a workspace, or of all where none is named: the ones written last come first, page by page. */
export function documentPage<Document>(
  reader: Reader,
  table: DocumentTable,
  fromRow: (row: { readonly document: string }) => Document,
  workspace: string | undefined,
  limit: number,
  cursor: string | undefined,
): { readonly items: readonly Document[]; readonly next: string | null } {
  const [before] = cursor === undefined ? [] : keysOf(cursor, 'number');
  const { where, values } = conditionsOf([
    ['workspace = ?', workspace],
    ['sequence < ?', before],
  ]);
  const rows = reader.all(
    `SELECT sequence, document FROM ${table} ${where} ORDER BY sequence DESC LIMIT ?`,
    ...values,
    limit + 1,
  ) as { readonly sequence: number; readonly document: string }[];
  return pageOf(rows, limit, fromRow, ({ sequence }) => cursorAt(sequence));
}
