import { quoteTable, type SourceProblem, type TableReason } from '@carillon/domain/changes';
import type { Instant } from '@carillon/kernel';
import type { TableCheck, TableReading } from '@carillon/ports';
import { codeOf, quoteName } from '../connection/connection-errors.ts';
import type { Connection } from '../connection/connect.ts';

type TableProblem = SourceProblem<TableReason>;

const NO_TABLE: TableProblem = { reason: 'no_table', detail: null, fix: null };

/** A relation of the database, as far as it decides whether it can be published. */
export type Relation = {
  readonly schema: string;
  readonly name: string;
  /** `r` table, `p` partitioned table, `v` view and so on, as in `pg_class`. */
  readonly kind: string;
  readonly persistence: string;
  /** `d` key, `f` full, `i` index, `n` nothing, as in `pg_class`. */
  readonly identity: string;
  readonly has_key: boolean;
  readonly has_identity_index: boolean;
  /** The replica identities of its partitions. */
  readonly partition_identities: readonly string[];
  /** Tables that it is a partition of, as `schema.table`. */
  readonly roots: readonly string[];
  readonly published: boolean;
  /** Object id of its entry in the publication. */
  readonly entry: string | null;
  /** The role owns both it and the publication. */
  readonly may_publish: boolean;
};

/** Columns of the query about relations. `$1` is the object id of a publication. */
export const RELATION_COLUMNS = `
  n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind, c.relpersistence::text AS persistence,
  c.relreplident::text AS identity,
  EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid AND i.indimmediate) AS has_key,
  EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisreplident AND i.indisvalid) AS has_identity_index,
  ARRAY(SELECT DISTINCT l.relreplident::text FROM pg_partition_tree(c.oid) t JOIN pg_class l ON l.oid = t.relid
    WHERE c.relkind = 'p' AND t.isleaf) AS partition_identities,
  ARRAY(SELECT rn.nspname || '.' || r.relname FROM pg_partition_ancestors(c.oid) a
    JOIN pg_class r ON r.oid = a.relid JOIN pg_namespace rn ON rn.oid = r.relnamespace
    WHERE c.relispartition AND r.oid <> c.oid) AS roots,
  EXISTS (SELECT FROM pg_publication_rel p WHERE p.prpubid = $1 AND p.prrelid = c.oid) AS published,
  (SELECT p.oid::int8::text FROM pg_publication_rel p WHERE p.prpubid = $1 AND p.prrelid = c.oid) AS entry,
  pg_has_role(c.relowner, 'USAGE') AND EXISTS (SELECT FROM pg_publication b
    WHERE b.oid = $1 AND pg_has_role(b.pubowner, 'USAGE')) AS may_publish`;

const FIND = `SELECT ${RELATION_COLUMNS} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname || '.' || c.relname = ANY ($2::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  ORDER BY n.nspname, c.relname`;

/** Empty if the role may not change the publication. */
const FIND_PUBLISHED = `SELECT n.nspname::text AS schema, c.relname::text AS name
  FROM pg_publication_rel p JOIN pg_class c ON c.oid = p.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE p.prpubid = $1 AND EXISTS (SELECT FROM pg_publication b
    WHERE b.oid = $1 AND pg_has_role(b.pubowner, 'USAGE'))`;

export const tableOf = ({ schema, name }: Pick<Relation, 'schema' | 'name'>): string => `${schema}.${name}`;

/** What the database sends of a row before an update. */
export function identityOf(relation: Relation): 'full' | 'key' | 'nothing' {
  if (relation.kind === 'p') {
    const { has_key: hasKey, partition_identities: partitions } = relation;
    // A partition that is added later has a key for certain if the partitioned table has one.
    if (!hasKey || partitions.includes('n')) return 'nothing';
    return partitions.length > 0 && partitions.every((identity) => identity === 'f') ? 'full' : 'key';
  }
  if (relation.identity === 'f') return 'full';
  const hasIdentity =
    relation.identity === 'i' ? relation.has_identity_index : relation.identity === 'd' && relation.has_key;
  return hasIdentity ? 'key' : 'nothing';
}

/** Returns why changes of a relation cannot be read. Null if they can. */
export function problemOf(relation: Relation, listed: ReadonlySet<string>): TableProblem | null {
  if (!['r', 'p'].includes(relation.kind)) return { reason: 'is_view', detail: null, fix: null };
  if (relation.persistence !== 'p') {
    return {
      reason: 'not_published',
      detail: 'Changes of an unlogged table are not in the WAL.',
      fix: `ALTER TABLE ${quoteTable(relation.schema, relation.name)} SET LOGGED;`,
    };
  }
  if (relation.roots.some((root) => listed.has(root))) return { reason: 'is_partition', detail: null, fix: null };
  return identityOf(relation) === 'nothing'
    ? { reason: 'no_identity', detail: null, fix: identityFix(relation) }
    : null;
}

function identityFix(relation: Relation): string {
  const table = quoteTable(relation.schema, relation.name);
  if (relation.kind === 'p' && !relation.has_key)
    return `ALTER TABLE ${table} ADD PRIMARY KEY (id); -- name its key columns`;
  if (relation.has_key && relation.kind === 'r') return `ALTER TABLE ${table} REPLICA IDENTITY DEFAULT;`;
  return relation.kind === 'r'
    ? `ALTER TABLE ${table} REPLICA IDENTITY FULL;`
    : '-- for each partition with REPLICA IDENTITY NOTHING: ALTER TABLE partition REPLICA IDENTITY DEFAULT;';
}

export type Publication = { readonly name: string; readonly oid: number };

/** Returns those of the listed tables that can be published. */
export async function findReadable(connection: Connection, tables: readonly string[]): Promise<readonly Relation[]> {
  const listed = new Set(tables);
  const relations = (await connection.query(FIND, [0, tables])) as readonly Relation[];
  return relations.filter((relation) => problemOf(relation, listed) === null);
}

/** Returns each listed table with what keeps it from being read, as `publishTables` would find. */
export async function checkTables(connection: Connection, tables: readonly string[]): Promise<readonly TableCheck[]> {
  const listed = new Set(tables);
  const relations = (await connection.query(FIND, [0, tables])) as readonly Relation[];
  return tables.map((table) => {
    const relation = relations.find((candidate) => tableOf(candidate) === table);
    if (relation === undefined) return { table, identity: 'nothing', problem: NO_TABLE };
    return { table, identity: identityOf(relation), problem: problemOf(relation, listed) };
  });
}

/**
 * Brings a publication in line with the listed tables: adds those that can be read, and takes out those that are listed no
 * longer or whose UPDATEs would fail. Returns each listed table with the time since when it is read, if that is new.
 */
export async function publishTables(
  connection: Connection,
  publication: Publication,
  tables: readonly string[],
): Promise<readonly TableReading[]> {
  const listed = new Set(tables);
  const relations = (await connection.query(FIND, [publication.oid, tables])) as readonly Relation[];
  const published = (await connection.query(FIND_PUBLISHED, [publication.oid])) as readonly Relation[];
  const readable = new Set(relations.filter((relation) => problemOf(relation, listed) === null).map(tableOf));
  for (const relation of published) {
    if (!readable.has(tableOf(relation))) await alter(connection, publication, 'DROP', relation);
  }
  const readings: TableReading[] = [];
  for (const table of tables) {
    const relation = relations.find((candidate) => tableOf(candidate) === table);
    readings.push({ table, ...(await publish(connection, publication, relation, listed)) });
  }
  return readings;
}

async function publish(
  connection: Connection,
  publication: Publication,
  relation: Relation | undefined,
  listed: ReadonlySet<string>,
): Promise<Omit<TableReading, 'table'>> {
  if (relation === undefined) return { since: null, problem: NO_TABLE };
  const problem = problemOf(relation, listed);
  if (problem !== null) return { since: null, problem };
  if (relation.published)
    return { since: null, problem: null, ...(relation.entry !== null && { entry: relation.entry }) };
  const refusal = relation.may_publish
    ? await alter(connection, publication, 'ADD', relation)
    : refused(alterSql(publication, 'ADD', relation), null);
  if (refusal !== null) return { since: null, problem: refusal };
  return { since: await serverTime(connection), problem: null };
}

/** The clock of the server, which also gives the commit times. */
export async function serverTime(connection: Connection): Promise<Instant> {
  const [row] = await connection.query('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS now');
  return Number(row?.['now']);
}

function alterSql(
  publication: Publication,
  action: 'ADD' | 'DROP',
  relation: Pick<Relation, 'schema' | 'name'>,
): string {
  // ONLY: tables that inherit from it might have no identity.
  const only = action === 'ADD' ? 'ONLY ' : '';
  return `ALTER PUBLICATION ${quoteName(publication.name)} ${action} TABLE ${only}${quoteTable(relation.schema, relation.name)};`;
}

const refused = (fix: string, detail: string | null): TableProblem => ({ reason: 'not_published', detail, fix });

/** Returns the reason if the server refuses. */
async function alter(
  connection: Connection,
  publication: Publication,
  action: 'ADD' | 'DROP',
  relation: Pick<Relation, 'schema' | 'name'>,
): Promise<TableProblem | null> {
  const sql = alterSql(publication, action, relation);
  try {
    await connection.query(sql);
    return null;
  } catch (error) {
    const code = codeOf(error);
    if (code === '55P03') return refused(sql, 'Another session holds a lock on it. Carillon tries again.');
    // Dropped since it was looked at, for example. The next look sees it.
    if (code.startsWith('42')) return refused(sql, `PostgreSQL refused with ${code}.`);
    throw error;
  }
}
