import { codeOf, isLateAnswer, quoteName } from '../connection/connection-errors.ts';
import type { Connection } from '../connection/connect.ts';
import { waiting, type SourceFailure } from '../connection/source-failure.ts';

export type Slot = {
  /** Position up to which its reader has acknowledged. Null while PostgreSQL still makes the slot. */
  readonly confirmed: string | null;
  /** PostgreSQL deleted WAL that it needs. */
  readonly isLost: boolean;
  /** It is a slot of pgoutput in this database. */
  readonly isOurs: boolean;
};

export async function findSlot(sql: Connection, name: string): Promise<Slot | null> {
  const [row] = await sql.query(
    `SELECT confirmed_flush_lsn::text AS confirmed, coalesce(wal_status = 'lost', false) AS lost,
       coalesce(plugin = 'pgoutput' AND database = current_database(), false) AS ours
     FROM pg_replication_slots WHERE slot_name = $1`,
    [name],
  );
  if (row === undefined) return null;
  const { confirmed, lost, ours } = row;
  return { confirmed: typeof confirmed === 'string' ? confirmed : null, isLost: lost === true, isOurs: ours === true };
}

/** Returns the options of a slot without a snapshot, in the syntax of the release. From 17 on, standbys copy the slot. */
function optionsFor(version: number): string {
  if (version < 150_000) return 'NOEXPORT_SNAPSHOT';
  return version < 170_000 ? "(SNAPSHOT 'nothing')" : "(SNAPSHOT 'nothing', FAILOVER true)";
}

/**
 * Makes a slot and returns where it begins. `replication` has a lock timeout, which counts for each open transaction by itself.
 * Rejects with `making_slot` when it passes, or when the server does not answer in time.
 */
export async function createSlot(replication: Connection, sql: Connection, name: string): Promise<string> {
  const [server] = await sql.query("SELECT current_setting('server_version_num')::int AS version");
  try {
    const [row] = await replication.query(
      `CREATE_REPLICATION_SLOT ${quoteName(name)} LOGICAL pgoutput ${optionsFor(Number(server?.['version']))}`,
    );
    return String(row?.['consistent_point']);
  } catch (error) {
    if (codeOf(error) !== '55P03' && !isLateAnswer(error)) throw error;
    throw await makingSlot(sql);
  }
}

/** Returns the state of a source whose slot waits for an open transaction. */
export const makingSlot = async (sql: Connection): Promise<SourceFailure> =>
  waiting('making_slot', await describeOldestTransaction(sql));

/** Locks are shown to every role; when a session's transaction began, to some. */
async function describeOldestTransaction(sql: Connection): Promise<string | null> {
  const [row] = await sql.query(
    `SELECT l.pid, a.usename::text AS role, to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS since
     FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock' AND l.pid IS DISTINCT FROM pg_backend_pid()
     ORDER BY age(l.transactionid) DESC LIMIT 1`,
  );
  if (row === undefined) return null;
  const { pid, role, since } = row;
  if (typeof pid !== 'number') return 'It is a prepared transaction.';
  const of = typeof role === 'string' ? ` of ${role}` : '';
  return `It belongs to the session with process id ${pid}${of}${typeof since === 'string' ? `, open since ${since} UTC` : ''}.`;
}

/** Returns the SQL that drops a slot and its publication by hand. */
export function dropSql(slot: string, publication: string): string {
  const name = slot.replaceAll("'", "''");
  return `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '${name}';
DROP PUBLICATION IF EXISTS ${quoteName(publication)};`;
}

/** Drops a slot if it is there. Rejects with `in_use` while it is read. */
export async function dropSlot(sql: Connection, name: string): Promise<void> {
  try {
    await sql.query('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1', [
      name,
    ]);
  } catch (error) {
    if (codeOf(error) === '55006') throw waiting('in_use');
    if (codeOf(error) !== '42704') throw error;
  }
}
