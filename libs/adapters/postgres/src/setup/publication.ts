import { quoteTable } from '@carillon/domain/changes';
import { codeOf, quoteName } from '../connection/connection-errors.ts';
import type { Connection } from '../connection/connect.ts';
import { waiting, type SourceFailure } from '../connection/source-failure.ts';
import { findReadable, type Publication } from './published-tables.ts';

/** Truncates never arrive, and a partitioned table has one name. */
const OPTIONS = "publish = 'insert, update, delete', publish_via_partition_root = true";

export type FoundPublication = Publication & {
  /** It has the options above. */
  readonly sendsAll: boolean;
};

export async function findPublication(connection: Connection, name: string): Promise<FoundPublication | null> {
  const [row] = await connection.query(
    `SELECT oid::int8::text AS oid, pubinsert AND pubupdate AND pubdelete AND pubviaroot AS sends_all
     FROM pg_publication WHERE pubname = $1`,
    [name],
  );
  return row === undefined ? null : { name, oid: Number(row['oid']), sendsAll: row['sends_all'] === true };
}

/** Returns a failure with the SQL if the options of a publication were changed so that changes are missing. */
export function optionsProblem({ name, sendsAll }: FoundPublication): SourceFailure | null {
  if (sendsAll) return null;
  return waiting('publication_changed', null, `ALTER PUBLICATION ${quoteName(name)} SET (${OPTIONS});`);
}

/** Returns a publication, which it makes without tables if it is not there. Rejects with `may_not_publish` or `publication_changed`. */
export async function ensurePublication(
  connection: Connection,
  name: string,
  tables: readonly string[],
): Promise<Publication> {
  const found = await findPublication(connection, name);
  if (found !== null) {
    const problem = optionsProblem(found);
    if (problem !== null) throw problem;
    return found;
  }
  try {
    await connection.query(`CREATE PUBLICATION ${quoteName(name)} WITH (${OPTIONS})`);
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    const readable = (await findReadable(connection, tables)).map(({ schema, name: table }) =>
      quoteTable(schema, table),
    );
    const list = readable.length === 0 ? '' : ` FOR TABLE ONLY ${readable.join(', ONLY ')}`;
    throw waiting('may_not_publish', null, `CREATE PUBLICATION ${quoteName(name)}${list} WITH (${OPTIONS});`);
  }
  const made = await findPublication(connection, name);
  if (made === null) throw new Error('the publication is gone');
  return made;
}

/** Drops a publication if it is there. Rejects with `may_not_publish` if it belongs to another role. */
export async function dropPublication(connection: Connection, name: string): Promise<void> {
  const sql = `DROP PUBLICATION IF EXISTS ${quoteName(name)};`;
  try {
    await connection.query(sql);
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    throw waiting('may_not_publish', 'The publication belongs to another role.', sql);
  }
}
