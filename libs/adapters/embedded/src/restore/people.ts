import { parseJson } from '@carillon/kernel';
import type { Statements } from '../statements.ts';

/** Whoever was taken out since the backup stays out: people, tokens and invitations are those of the newer folder. */
export function carryPeople(sql: Statements, source: Statements): void {
  if (!source.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'people'")) return;
  sql.run('DELETE FROM people');
  const columns = ['kind', 'id', 'version', 'lookup_key', 'belongs_to', 'ends_at', 'document'] as const;
  const insert = `INSERT INTO people (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
  for (const row of source.iterate(`SELECT ${columns.join(', ')} FROM people`)) {
    sql.run(insert, ...columns.map((column) => row[column] ?? null));
  }
}

/**
 * Ends what a copy must not bring back: sessions, of which some were ended since, guesses, and a link that may have been
 * used. People sign in again.
 */
export function endSignIns(sql: Statements): void {
  sql.run("DELETE FROM people WHERE kind IN ('session', 'guesses', 'mailed_link')");
  const roster = sql.get("SELECT document FROM people WHERE kind = 'roster'");
  if (roster === undefined) return;
  const record = parseJson(String(roster['document'])) as { readonly body: object };
  const without = JSON.stringify({ ...record, body: { ...record.body, link: null } });
  sql.run("UPDATE people SET document = ? WHERE kind = 'roster'", without);
}
