import type { Connection } from '../connection/connect.ts';
import type { TypeRow } from './read-value.ts';

/** Looks types up by object id. Types that were dropped since are left out. Rejects with SourceFailure. */
export async function loadTypes(sql: Connection, oids: readonly number[]): Promise<readonly TypeRow[]> {
  try {
    const rows = await sql.query(
      `SELECT oid::int8::text AS oid, typbasetype::int8::text AS base, typdelim::text AS delimiter,
         CASE WHEN typcategory = 'A' THEN typelem::int8::text ELSE '0' END AS element
       FROM pg_type WHERE oid = ANY ($1::text[]::oid[])`,
      [oids.map(String)],
    );
    return rows.map(({ oid, base, element, delimiter }) => ({
      oid: Number(oid),
      base: Number(base),
      element: Number(element),
      delimiter: String(delimiter),
    }));
  } catch (error) {
    throw sql.failure(error);
  }
}
