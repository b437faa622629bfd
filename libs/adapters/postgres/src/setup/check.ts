import type { SourceCheck, SourceTarget } from '@carillon/ports';
import type { Access } from '../access.ts';
import { connect, type Connection } from '../connection/connect.ts';
import { quoteName } from '../connection/connection-errors.ts';
import { waiting, waitingProblem, type WaitingProblem } from '../connection/source-failure.ts';
import { checkTables } from './published-tables.ts';
import { dropSql } from './slot.ts';
import { findServerProblem, identifySystem } from './start-checks.ts';

type Warning = SourceCheck['warnings'][number];

const OLDEST_VERSION = 140_000;

const SERVER = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
  current_setting('max_slot_wal_keep_size') AS kept, current_database()::text AS database,
  has_database_privilege(current_database(), 'CREATE') AS may_create,
  (SELECT count(*) FROM pg_replication_slots) >= current_setting('max_replication_slots')::int
    AND NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name LIKE 'carillon\\_%') AS full`;

const UNREAD_SLOTS = `SELECT slot_name::text AS name, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) AS held
  FROM pg_replication_slots WHERE slot_name LIKE 'carillon\\_%' AND plugin = 'pgoutput' AND NOT active AND restart_lsn IS NOT NULL
    AND database = current_database() AND slot_name::text <> ALL ($1::text[])
  ORDER BY slot_name LIMIT 10`;

/** `$1`: listed tables. Only the owner of a table, or a superuser, adds it to a publication. */
const UNOWNED_TABLES = `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname || '.' || c.relname = ANY ($1::text[]) AND c.relkind IN ('r', 'p') AND NOT pg_has_role(c.relowner, 'USAGE')
    AND NOT EXISTS (SELECT FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
      WHERE r.prrelid = c.oid AND p.pubname LIKE 'carillon\\_%')
  ORDER BY 1`;

/** Looks at a server and at tables, and changes nothing there. */
export async function checkServer(
  access: Access,
  target: SourceTarget,
  tables: readonly string[],
  knownSlots: readonly string[],
): Promise<SourceCheck> {
  let sql: Connection;
  try {
    sql = await connect(access, target, 'sql');
  } catch (error) {
    return { server: null, problems: [waitingProblem(error)], warnings: [], tables: [] };
  }
  try {
    const found = await findServerProblem(sql);
    const refusal = await findReplicationProblem(access, target, sql);
    const problems = [...(found === null ? [] : [waitingProblem(found)]), ...(refusal === null ? [] : [refusal])];
    const server = await describeServer(sql, problems);
    // A standby knows no end of its WAL.
    if (server.problems.length > 0) return { ...server, tables: [] };
    const warnings = [
      ...server.warnings,
      ...(await unreadSlots(sql, knownSlots)),
      ...(await unownedTables(sql, tables)),
    ];
    return { ...server, warnings, tables: await checkTables(sql, tables) };
  } catch (error) {
    return { server: null, problems: [waitingProblem(sql.failure(error))], warnings: [], tables: [] };
  } finally {
    await sql.end();
  }
}

/** A connection for replication may be refused where others are not: by `pg_hba.conf`, by a pooler, for want of REPLICATION. */
async function findReplicationProblem(
  access: Access,
  target: SourceTarget,
  sql: Connection,
): Promise<WaitingProblem | null> {
  let replication: Connection | undefined;
  try {
    replication = await connect(access, target, 'replication', sql);
    await identifySystem(replication);
    return null;
  } catch (error) {
    return waitingProblem(replication?.failure(error) ?? error);
  } finally {
    await replication?.end();
  }
}

async function describeServer(
  sql: Connection,
  problems: readonly WaitingProblem[],
): Promise<Omit<SourceCheck, 'tables'>> {
  const [row] = await sql.query(SERVER);
  const isFull = row?.['full'] === true && problems.length === 0;
  const full = waiting('no_slot_free', null, 'ALTER SYSTEM SET max_replication_slots = 20; -- then restart PostgreSQL');
  return {
    server: `PostgreSQL ${String(row?.['version']).split(' ')[0]}`,
    problems: isFull ? [waitingProblem(full)] : problems,
    warnings: warningsOf(row ?? {}, sql.url.user),
  };
}

/** A restored backup of Carillon knows nothing of slots that were made later. Their WAL would fill the disk. */
async function unreadSlots(sql: Connection, knownSlots: readonly string[]): Promise<readonly Warning[]> {
  const rows = await sql.query(UNREAD_SLOTS, [knownSlots]);
  return rows.map(({ name, held }) => ({
    detail: `The replication slot ${String(name)} holds ${String(held)} of WAL, nobody reads it, and no source here has it, as after a restored backup of Carillon. If it is not of another deployment, drop it.`,
    fix: dropSql(String(name), String(name)),
  }));
}

async function unownedTables(sql: Connection, tables: readonly string[]): Promise<readonly Warning[]> {
  const rows = await sql.query(UNOWNED_TABLES, [tables]);
  return rows.map(({ name }) => ({
    detail: `The role does not own ${String(name)}, so Carillon cannot publish it. The page of its stream shows the SQL for an administrator.`,
    fix: null,
  }));
}

function warningsOf(server: Readonly<Record<string, unknown>>, user: string): readonly Warning[] {
  const warnings: Warning[] = [];
  if (Number(server['number']) < OLDEST_VERSION) {
    warnings.push({ detail: 'Carillon is made for PostgreSQL 14 and newer.', fix: null });
  }
  if (server['kept'] === '-1') {
    warnings.push({
      detail:
        'max_slot_wal_keep_size is unlimited, so a replication slot that is not read fills the disk of the database.',
      fix: "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'; SELECT pg_reload_conf();",
    });
  }
  if (server['may_create'] !== true) {
    warnings.push({
      detail: 'The role may not create a publication. Carillon prints the SQL for a person to run.',
      fix: `GRANT CREATE ON DATABASE ${quoteName(String(server['database']))} TO ${quoteName(user)};`,
    });
  }
  return warnings;
}
