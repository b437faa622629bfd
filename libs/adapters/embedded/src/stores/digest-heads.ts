import { headDueAt, type DigestHead } from '@carillon/domain';
import type { DigestHeads } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

type HeadRow = { readonly document: string };
type Written = HeadRow & {
  readonly id: string;
  readonly workspace: string;
  readonly version: number;
  readonly dueAt: number | null;
};

export const digestHeadWrites = ({ sql }: Pick<Transaction, 'sql'>) => ({
  'digestHeads.replace'({ id, workspace, version, dueAt, document }: Written): boolean {
    if (version === 1) {
      const insert = `INSERT INTO digest_heads (id, workspace, version, due_at, document) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`;
      return sql.run(insert, id, workspace, version, dueAt, document) > 0;
    }
    const update = 'UPDATE digest_heads SET version = ?, due_at = ?, document = ? WHERE id = ? AND version = ?';
    return sql.run(update, version, dueAt, document, id, version - 1) > 0;
  },
});
type DigestHeadWrites = ReturnType<typeof digestHeadWrites>;

const read = ({ document }: HeadRow): DigestHead => JSON.parse(document) as DigestHead;

/** Steps from one workspace to the next, as the ledger does: heads are many and workspaces few. */
const DUE_WORKSPACES = `
  WITH RECURSIVE step (workspace) AS (
    SELECT min(workspace) FROM digest_heads INDEXED BY digest_heads_due WHERE due_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(workspace) FROM digest_heads INDEXED BY digest_heads_due WHERE due_at IS NOT NULL AND workspace > step.workspace)
    FROM step WHERE step.workspace IS NOT NULL
  )
  SELECT workspace FROM step WHERE workspace IS NOT NULL AND EXISTS (
    SELECT 1 FROM digest_heads INDEXED BY digest_heads_due WHERE digest_heads.workspace = step.workspace AND due_at <= ?
  )`;

export const createDigestHeads = (reader: Reader, write: Write<DigestHeadWrites>): DigestHeads => ({
  async get(id) {
    const row = reader.get('SELECT document FROM digest_heads WHERE id = ?', id) as HeadRow | undefined;
    return row ? read(row) : null;
  },
  async replace(next) {
    const { id, workspace, version } = next;
    const row: Written = { id, workspace, version, dueAt: headDueAt(next), document: JSON.stringify(next) };
    return (await write('digestHeads.replace', { bytes: 512 + row.document.length }, row)) ? 'done' : 'stale';
  },
  async dueWorkspaces(now) {
    return (reader.all(DUE_WORKSPACES, now) as { workspace: string }[]).map(({ workspace }) => workspace);
  },
  async due(workspace, now, limit) {
    const rows = reader.all(
      `SELECT document FROM digest_heads INDEXED BY digest_heads_due
       WHERE workspace = ? AND due_at <= ? ORDER BY due_at LIMIT ?`,
      workspace,
      now,
      limit,
    ) as HeadRow[];
    return rows.map(read);
  },
  async nextDueAt(until) {
    const row = reader.get(
      `SELECT due_at FROM digest_heads INDEXED BY digest_heads_next
       WHERE due_at <= ? ORDER BY due_at LIMIT 1`,
      until,
    ) as { due_at: number } | undefined;
    return row?.due_at ?? null;
  },
  async list(limit, cursor) {
    const [before] = cursor === undefined ? [] : keysOf(cursor, 'string');
    const { where, values } = conditionsOf([['id < ?', before]]);
    const rows = reader.all(
      `SELECT id, document FROM digest_heads ${where} ORDER BY id DESC LIMIT ?`,
      ...values,
      limit + 1,
    ) as (HeadRow & { id: string })[];
    return pageOf(rows, limit, read, (row) => cursorAt(row.id));
  },
});
