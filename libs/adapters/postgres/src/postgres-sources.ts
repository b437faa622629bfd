import type { PostgresPosition } from '@carillon/domain/changes';
import { err, ok, type Result } from '@carillon/kernel';
import type { AddressGuard, ChangeSources, SourceTarget } from '@carillon/ports';
import { DEFAULT_TIMING, type Access, type Timing } from './access.ts';
import { connect, type Connection } from './connection/connect.ts';
import { waiting, waitingProblem, type WaitingProblem } from './connection/source-failure.ts';
import { openReader } from './reading/source-reader.ts';
import { checkServer } from './setup/check.ts';
import { listTables } from './setup/list-tables.ts';
import { dropPublication } from './setup/publication.ts';
import { resetPosition } from './setup/reset.ts';
import { dropSlot, dropSql, findSlot } from './setup/slot.ts';
import { identifySystem } from './setup/start-checks.ts';

export type PostgresSourcesOptions = {
  /** Decides which addresses may be connected to. */
  readonly guard: AddressGuard;
  /** Shorter times for tests. */
  readonly timing?: Partial<Timing>;
};

/** Reads the changes of PostgreSQL 14 and newer by logical replication (docs/decisions/0074). */
export function createPostgresSources({ guard, timing }: PostgresSourcesOptions): ChangeSources {
  const access: Access = { guard, timing: { ...DEFAULT_TIMING, ...timing } };
  return {
    check: (target, tables, knownSlots = []) => checkServer(access, target, tables, knownSlots),
    tables: (target) => withSql(access, target, listTables),
    open: (target, tables, from, handlers) => openReader({ access, target, tables, from, handlers }),
    reset: (target, tables, from, reason) =>
      withSql(access, target, (sql) => resetPosition(access, target, sql, { tables, from, reason })),
    drop: (target, position) => withSql(access, target, (sql) => dropAll(access, target, sql, position)),
    dropSql: ({ slot, publication }) => dropSql(slot, publication),
  };
}

/** Runs work on a connection of its own. A failure becomes the state that it leads to. */
async function withSql<Value>(
  access: Access,
  target: SourceTarget,
  work: (sql: Connection) => Promise<Value>,
): Promise<Result<Value, WaitingProblem>> {
  let sql: Connection | undefined;
  try {
    sql = await connect(access, target, 'sql');
    return ok(await work(sql));
  } catch (error) {
    return err(waitingProblem(sql?.failure(error) ?? error));
  } finally {
    await sql?.end();
  }
}

/** The slot first: without its publication it could not be read any more, but would hold WAL. */
async function dropAll(
  access: Access,
  target: SourceTarget,
  sql: Connection,
  position: PostgresPosition,
): Promise<null> {
  await refuseOtherServer(access, target, sql, position);
  await dropSlot(sql, position.slot);
  await dropPublication(sql, position.publication);
  return null;
}

/**
 * The slot stays on its own server if the URL now leads to another one. A server with a slot of this random name is the known one
 * after an upgrade by `pg_upgrade`, which gives it another system id.
 */
async function refuseOtherServer(
  access: Access,
  target: SourceTarget,
  sql: Connection,
  { systemId, slot }: PostgresPosition,
): Promise<void> {
  const replication = await connect(access, target, 'replication', sql);
  try {
    const found = await identifySystem(replication);
    if (found.systemId === systemId || (await findSlot(sql, slot))?.isOurs) return;
    throw waiting(
      'unreachable',
      `The URL leads to the server with system id ${found.systemId}, but the slot is on the server with system id ${systemId}. If that server was upgraded by pg_upgrade or is gone, no slot is left: run the SQL on this server, then confirm with --gone.`,
    );
  } finally {
    await replication.end();
  }
}
