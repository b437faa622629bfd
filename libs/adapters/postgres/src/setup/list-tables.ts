import type { SourceColumn, SourceTable } from '@carillon/ports';
import type { Connection } from '../connection/connect.ts';
import { identityOf, problemOf, RELATION_COLUMNS, tableOf, type Relation } from './published-tables.ts';

const MAX_TABLES = 1000;

/** Partitions are left out, because their changes arrive under the name of their table. */
const TABLES = `SELECT ${RELATION_COLUMNS}, c.oid::int8::text AS id
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  ORDER BY n.nspname, c.relname LIMIT ${MAX_TABLES}`;

const COLUMNS = `SELECT a.attrelid::int8::text AS id, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
    EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey)) AS key
  FROM pg_attribute a
  WHERE a.attrelid = ANY ($1::text[]::oid[]) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  ORDER BY a.attrelid, a.attnum`;

/** Returns the tables of a database by name, with their columns, and why one cannot be read. */
export async function listTables(connection: Connection): Promise<readonly SourceTable[]> {
  const relations = (await connection.query(TABLES, [0])) as readonly (Relation & { readonly id: string })[];
  const rows = await connection.query(COLUMNS, [relations.map(({ id }) => id)]);
  const columns = new Map<string, SourceColumn[]>();
  for (const { id, name, type, key } of rows) {
    const column = { name: String(name), type: String(type), key: key === true };
    columns.set(String(id), [...(columns.get(String(id)) ?? []), column]);
  }
  return relations.map((relation) => ({
    table: tableOf(relation),
    columns: columns.get(relation.id) ?? [],
    identity: identityOf(relation),
    problem: problemOf(relation, new Set()),
  }));
}
