import type { PostgresPosition, StoppedReason } from '@carillon/domain/changes';
import type { SourceTarget } from '@carillon/ports';
import type { Access } from '../access.ts';
import { connect, type Connection } from '../connection/connect.ts';
import { findPublication, dropPublication } from './publication.ts';
import { makeSlot, type Server } from './positions.ts';
import { serverTime } from './published-tables.ts';
import { dropSlot, findSlot } from './slot.ts';
import { findGap, findServerProblem, identifySystem } from './start-checks.ts';

/** Slots that were read further, or elsewhere, are intact. In every other case changes are missing between slot and position. */
const USABLE: readonly string[] = ['slot_ahead', 'other_database'];

export type ResetOrder = {
  readonly tables: readonly string[];
  readonly from: PostgresPosition;
  /** Why the source stopped. */
  readonly reason: StoppedReason;
};

/**
 * Returns the position at which a reset continues: at the slot if that is intact, else at a publication and slot that it makes
 * again under their names.
 */
export async function resetPosition(
  access: Access,
  target: SourceTarget,
  sql: Connection,
  order: ResetOrder,
): Promise<PostgresPosition> {
  const problem = await findServerProblem(sql);
  if (problem !== null) throw problem;
  const replication = await connect(access, target, 'replication', sql);
  try {
    const server = { sql, replication, system: await identifySystem(replication) };
    return (await positionOfSlot(server, order)) ?? (await beginAgain(server, order));
  } finally {
    await replication.end();
  }
}

async function positionOfSlot(server: Server, { from, reason }: ResetOrder): Promise<PostgresPosition | null> {
  const { sql, system } = server;
  const gap = await findGap(server, from);
  // A database that was set back looks intact once its WAL has grown past the position.
  if (gap === null) return reason === 'went_back' ? null : from;
  const slot = await findSlot(sql, from.slot);
  const publication = await findPublication(sql, from.publication);
  if (!USABLE.includes(gap.failure.reason) || slot === null || !slot.isOurs || slot.isLost) return null;
  if (slot.confirmed === null) return null;
  if (publication?.oid !== from.publicationOid) return null;
  const { systemId, timeline } = system;
  return { ...from, systemId, timeline, lsn: slot.confirmed, partial: null, at: await serverTime(sql) };
}

async function beginAgain(server: Server, { tables, from }: ResetOrder): Promise<PostgresPosition> {
  await dropSlot(server.sql, from.slot);
  await dropPublication(server.sql, from.publication);
  return (await makeSlot(server, from, tables)).position;
}
