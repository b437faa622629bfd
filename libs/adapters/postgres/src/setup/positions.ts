import { randomBytes } from 'node:crypto';
import { NOWHERE, type PostgresPosition } from '@carillon/domain/changes';
import type { TableReading } from '@carillon/ports';
import type { Connection } from '../connection/connect.ts';
import { ensurePublication } from './publication.ts';
import { publishTables, serverTime } from './published-tables.ts';
import { createSlot, findSlot, makingSlot } from './slot.ts';
import { findGap, type SystemIdentity } from './start-checks.ts';

export type Server = {
  readonly sql: Connection;
  readonly replication: Connection;
  readonly system: SystemIdentity;
};

export type Prepared = { readonly position: PostgresPosition; readonly readings: readonly TableReading[] };

export const isMade = ({ lsn }: PostgresPosition): boolean => lsn !== NOWHERE;

/** Chooses the names of a publication and a slot. They are random, so that two deployments never use one slot. */
export async function namePosition({ sql, system }: Server): Promise<PostgresPosition> {
  const name = `carillon_${randomBytes(8).toString('hex')}`;
  return {
    kind: 'postgres',
    systemId: system.systemId,
    timeline: system.timeline,
    slot: name,
    publication: name,
    publicationOid: 0,
    lsn: NOWHERE,
    partial: null,
    at: await serverTime(sql),
  };
}

/** Makes publication and slot under the names of a position, as far as they are not there. Returns where the slot begins. */
export async function makeSlot(server: Server, names: PostgresPosition, tables: readonly string[]): Promise<Prepared> {
  const { sql, replication, system } = server;
  // In the other order the slot could not be read: PostgreSQL looks for the publication as it was at each change.
  const publication = await ensurePublication(sql, names.publication, tables);
  const readings = await publishTables(sql, publication, tables);
  const slot = await findSlot(sql, names.slot);
  // PostgreSQL goes on making it after its reader has gone.
  if (slot?.confirmed === null) throw await makingSlot(sql);
  const lsn = slot?.confirmed ?? (await createSlot(replication, sql, names.slot));
  const { systemId, timeline } = system;
  const at = await serverTime(sql);
  return {
    position: { ...names, systemId, timeline, publicationOid: publication.oid, lsn, partial: null, at },
    readings,
  };
}

/** Returns a position at which reading continues without a gap. Rejects with SourceFailure `stopped` if there is one. */
export async function continueAt(server: Server, from: PostgresPosition, tables: readonly string[]): Promise<Prepared> {
  const gap = await findGap(server, from);
  if (gap !== null) throw gap;
  const publication = { name: from.publication, oid: from.publicationOid };
  const readings = await publishTables(server.sql, publication, tables);
  return { position: { ...from, timeline: server.system.timeline }, readings };
}
