import type { PostgresPosition } from '@carillon/domain/changes';
import { codeOf } from '../connection/connection-errors.ts';
import type { Connection } from '../connection/connect.ts';
import { stopped, waiting, type SourceFailure } from '../connection/source-failure.ts';
import { parseLsn } from '../reading/lsn.ts';
import { findPublication, optionsProblem } from './publication.ts';
import { findSlot } from './slot.ts';

export type SystemIdentity = {
  readonly systemId: string;
  readonly timeline: number;
  /** End of the WAL. */
  readonly end: string;
};

/** Asks who the server is. Poolers do not know the command. */
export async function identifySystem(replication: Connection): Promise<SystemIdentity> {
  try {
    const [row] = await replication.query('IDENTIFY_SYSTEM');
    return { systemId: String(row?.['systemid']), timeline: Number(row?.['timeline']), end: String(row?.['xlogpos']) };
  } catch (error) {
    if (codeOf(error) === '42601') throw waiting('pooler');
    throw error;
  }
}

/** Returns what keeps any source of this server from being read. Null if nothing does. */
export async function findServerProblem(sql: Connection): Promise<SourceFailure | null> {
  const [row] = await sql.query("SELECT pg_is_in_recovery() AS standby, current_setting('wal_level') AS level");
  if (row?.['standby'] === true) return waiting('standby');
  if (row?.['level'] === 'logical') return null;
  return waiting('not_logical', null, 'ALTER SYSTEM SET wal_level = logical; -- then restart PostgreSQL');
}

/**
 * Returns why reading cannot continue at a position without a gap. Null if it can: the server is the known one, its WAL
 * reaches the position, with the transaction that is on the log in part, on a timeline that did not branch before it, slot and publication are there, and the slot is not beyond
 * the position. Beyond it, PostgreSQL would leave changes out without an error.
 */
export async function findGap(
  {
    sql,
    replication,
    system,
  }: { readonly sql: Connection; readonly replication: Connection; readonly system: SystemIdentity },
  position: PostgresPosition,
): Promise<SourceFailure | null> {
  if (system.systemId !== position.systemId) return stopped('other_database');
  const { partial, timeline } = position;
  const isBefore = (end: bigint): boolean =>
    end < parseLsn(position.lsn) || (partial !== null && end <= parseLsn(partial.commitLsn));
  const place = partial?.commitLsn ?? position.lsn;
  if (isBefore(parseLsn(system.end))) return stopped('went_back', `Its WAL ends at ${system.end}, before ${place}.`);
  if (system.timeline !== timeline) {
    const branch = await branchOf(replication, system.timeline, timeline);
    if (branch === null) return stopped('went_back', `Timeline ${timeline} is not part of its history.`);
    if (isBefore(branch)) return stopped('went_back', `Timeline ${timeline} ended before ${place}.`);
  }
  return findSlotProblem(sql, position);
}

/** As `findGap`, for slot and publication only. */
export async function findSlotProblem(sql: Connection, position: PostgresPosition): Promise<SourceFailure | null> {
  const slot = await findSlot(sql, position.slot);
  if (slot === null || !slot.isOurs) return stopped('slot_gone');
  if (slot.isLost) return stopped('slot_lost');
  const publication = await findPublication(sql, position.publication);
  if (publication?.oid !== position.publicationOid) return stopped('publication_gone');
  if (slot.confirmed !== null && parseLsn(slot.confirmed) > parseLsn(position.lsn)) {
    return stopped('slot_ahead', `It is at ${slot.confirmed}, beyond ${position.lsn}.`);
  }
  return optionsProblem(publication);
}

/** Returns where `timeline` left `old`. Null if it does not come from it. */
async function branchOf(replication: Connection, timeline: number, old: number): Promise<bigint | null> {
  if (timeline < old) return null;
  const [row] = await replication.query(`TIMELINE_HISTORY ${timeline}`);
  const content = row?.['content'];
  const history = Buffer.isBuffer(content) ? content.toString('utf8') : String(content);
  for (const line of history.split('\n')) {
    const [, from, lsn] = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/i.exec(line) ?? [];
    if (Number(from) === old && lsn !== undefined) return parseLsn(lsn);
  }
  return null;
}
