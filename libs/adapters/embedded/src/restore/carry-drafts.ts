import { BASE_GONE, type Draft } from '@carillon/domain';
import { parseJson } from '@carillon/kernel';
import type { Statements } from '../statements.ts';
import { draftWrites } from '../stores/draft-store.ts';

/**
 * What people prepared since the backup is there again. `configurations`: how many the backup has; a draft that is based on a later one waits
 * until somebody chose, because that number will mean another. Of two drafts of one resource the later one stays. Answers how many came.
 */
export function carryDrafts(sql: Statements, source: Statements, configurations: number): number {
  if (!source.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'drafts'")) return 0;
  const { 'drafts.replace': replace } = draftWrites({ sql });
  let carried = 0;
  for (const row of source.iterate('SELECT document FROM drafts ORDER BY sequence')) {
    const theirs = draftIn(row);
    const { workspace, kind, name } = theirs.ref;
    const ours = 'SELECT document FROM drafts WHERE workspace = ? AND kind = ? AND name = ?';
    const found = sql.get(ours, workspace, kind, name);
    const before = found ? draftIn(found) : null;
    if (before && (before.revision === theirs.revision || before.at > theirs.at)) continue;
    const gone = theirs.basedOn !== null && theirs.basedOn >= configurations;
    const next = gone ? { ...theirs, basedOn: BASE_GONE } : theirs;
    if (replace(next.ref, next.revision, JSON.stringify(next), before?.revision ?? null)) carried += 1;
  }
  return carried;
}

const draftIn = (row: Readonly<Record<string, unknown>>): Draft =>
  parseJson(String(row['document'])) as unknown as Draft;
