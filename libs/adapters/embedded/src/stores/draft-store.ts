import type { Draft, ResourceRef } from '@carillon/domain';
import type { DraftStore } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { documentPage } from './document-pages.ts';

type DraftRow = { readonly sequence: number; readonly document: string };

const OF = 'workspace = ? AND kind = ? AND name = ?';

/** Documents are text here already: the writer is to know how long each is, and copies it once. */
export const draftWrites = ({ sql }: Pick<Transaction, 'sql'>) => ({
  'drafts.replace'(ref: ResourceRef, revision: string, document: string, before: string | null): boolean {
    const { workspace, kind, name } = ref;
    if (before === null) {
      const insert = `INSERT INTO drafts (workspace, kind, name, revision, document) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`;
      return sql.run(insert, workspace, kind, name, revision, document) > 0;
    }
    const update = `UPDATE drafts SET revision = ?, document = ? WHERE ${OF} AND revision = ?`;
    return sql.run(update, revision, document, workspace, kind, name, before) > 0;
  },
  'drafts.remove'({ workspace, kind, name }: ResourceRef, revision: string): boolean {
    sql.run(`DELETE FROM drafts WHERE ${OF} AND revision = ?`, workspace, kind, name, revision);
    return sql.get(`SELECT 1 FROM drafts WHERE ${OF}`, workspace, kind, name) === undefined;
  },
});
type DraftWrites = ReturnType<typeof draftWrites>;

const fromRow = ({ document }: Pick<DraftRow, 'document'>): Draft => JSON.parse(document) as Draft;

export const createDraftStore = (reader: Reader, write: Write<DraftWrites>): DraftStore => ({
  async find({ workspace, kind, name }) {
    const row = reader.get(`SELECT document FROM drafts WHERE ${OF}`, workspace, kind, name) as DraftRow | undefined;
    return row ? fromRow(row) : null;
  },
  async replace(next, before) {
    const document = JSON.stringify(next);
    const bytes = 512 + document.length;
    return (await write('drafts.replace', { bytes }, next.ref, next.revision, document, before)) ? 'done' : 'stale';
  },
  async remove(ref, revision) {
    return (await write('drafts.remove', { bytes: 512 }, ref, revision)) ? 'done' : 'stale';
  },
  async held(workspace) {
    const wanted = 'SELECT count(*) AS drafts, sum(octet_length(document)) AS bytes FROM drafts WHERE workspace = ?';
    const row = reader.get(wanted, workspace);
    return { drafts: Number(row?.['drafts'] ?? 0), bytes: Number(row?.['bytes'] ?? 0) };
  },
  async revisions(workspace) {
    const rows = reader.all('SELECT revision FROM drafts WHERE workspace = ?', workspace);
    return rows.map(({ revision }) => String(revision));
  },
  list: async (workspace, limit, cursor) => documentPage(reader, 'drafts', fromRow, workspace, limit, cursor),
});
