import type { PostgresPosition } from '@carillon/domain/changes';
import type { Instant } from '@carillon/kernel';
import type { ReadBatch, SourceEnd, SourceHandlers, SourceReader, SourceTarget, TableReading } from '@carillon/ports';
import type { Access } from '../access.ts';
import { connect, type Connection } from '../connection/connect.ts';
import { SourceFailure, stopped } from '../connection/source-failure.ts';
import { codeOf } from '../connection/connection-errors.ts';
import { continueAt, isMade, makeSlot, namePosition, type Prepared, type Server } from '../setup/positions.ts';
import { findPublication, optionsProblem } from '../setup/publication.ts';
import { publishTables, serverTime, type Publication } from '../setup/published-tables.ts';
import { findServerProblem, findSlotProblem, identifySystem } from '../setup/start-checks.ts';
import { loadTypes } from '../values/load-types.ts';
import { ValueReaders } from '../values/read-value.ts';
import { ChangeReader } from './change-reader.ts';
import { parseLsn } from './lsn.ts';
import { startStream } from './start-stream.ts';
import type { ReplicationStream } from './replication-stream.ts';

const BATCH_BYTES = 1024 * 1024;
/** Ends of the WAL that are remembered until the stream reaches them. */
const MAX_SAMPLES = 100;

type Changes = ReadBatch['changes'];

export type ReadingOrder = {
  readonly access: Access;
  readonly target: SourceTarget;
  readonly tables: readonly string[];
  readonly from: PostgresPosition | null;
  readonly handlers: SourceHandlers;
};

/** Starts to read the changes of a database. Implements `ChangeSources.open`. */
export function openReader(order: ReadingOrder): SourceReader {
  const run = new SourceRun(order);
  const ended = run.run();
  return {
    ended,
    async close() {
      await run.close();
      await ended;
    },
  };
}

/** Ends a reader as `closed` with the error that is its cause. */
class ClosingError extends Error {}

class SourceRun {
  readonly #order: ReadingOrder;
  readonly #connections: Connection[] = [];
  #position: PostgresPosition | null;
  #stream: ReplicationStream | null = null;
  #reportTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** From the command that starts the stream on. */
  #isStreaming = false;
  /** Where the server's WAL ended, and when, for ends that the stream has not reached yet. */
  readonly #samples: { readonly lsn: bigint; readonly at: Instant }[] = [];
  readonly #since = new Map<string, Instant>();
  #savedAt = performance.now();

  constructor(order: ReadingOrder) {
    this.#order = order;
    this.#position = order.from;
  }

  async run(): Promise<SourceEnd> {
    try {
      await this.#read();
      return { kind: 'closed', error: null };
    } catch (error) {
      if (error instanceof ClosingError) return { kind: 'closed', error: error.cause ?? null };
      if (this.#isClosed) return { kind: 'closed', error: null };
      return await this.#endAfter(error);
    } finally {
      await this.#closeConnections();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#closeConnections();
  }

  async #closeConnections(): Promise<void> {
    clearTimeout(this.#reportTimer);
    await this.#stream?.close();
    await Promise.all(this.#connections.map((connection) => connection.end()));
  }

  /** An error of the stream has its cause in the database, which another connection sees in whatever language the server speaks. */
  async #endAfter(cause: unknown): Promise<SourceEnd> {
    if (cause instanceof SourceFailure) return cause.failure;
    const [sql] = this.#connections;
    if (sql === undefined || isOurs(cause)) return { kind: 'closed', error: cause };
    const code = codeOf(cause);
    if (this.#isStreaming && this.#position !== null && ['42704', '55000', '58P01'].includes(code)) {
      const problem = await findSlotProblem(sql, this.#position).catch((error: unknown) => sql.failure(error));
      return (problem ?? stopped(code === '42704' ? 'publication_gone' : 'slot_lost')).failure;
    }
    return sql.failure(cause).failure;
  }

  async #connect(kind: 'sql' | 'replication', beside: Connection | null = null): Promise<Connection> {
    const connection = await connect(this.#order.access, this.#order.target, kind, beside);
    this.#connections.push(connection);
    if (this.#isClosed) throw new ClosingError();
    return connection;
  }

  async #read(): Promise<void> {
    const { target, tables, access } = this.#order;
    const sql = await this.#connect('sql');
    const problem = await findServerProblem(sql);
    if (problem !== null) throw problem;
    const replication = await this.#connect('replication', sql);
    const server = { sql, replication, system: await identifySystem(replication) };
    const { position, readings } = await this.#prepare(server);
    this.#isStreaming = true;
    this.#stream = await startStream(server, position, access.timing);
    if (this.#isClosed) throw new ClosingError();
    await this.#report(sql, position, readings).catch((error: unknown) => {
      throw statementError(sql, error);
    });
    const changes = new ChangeReader({
      integration: target.integration,
      tables: new Set(tables),
      from: position,
      values: new ValueReaders((oids) => loadTypes(sql, oids)),
    });
    this.#scheduleReport(sql, changes);
    await this.#pump(this.#stream, changes);
  }

  async #prepare(server: Server): Promise<Prepared> {
    const { from, tables } = this.#order;
    if (from !== null && isMade(from)) return continueAt(server, from, tables);
    const names = from ?? (await namePosition(server));
    // Saved before the slot is made, so that a crash between the two leaves no slot that nobody knows.
    if (from === null) await this.#take([], names);
    const prepared = await makeSlot(server, names, tables);
    await this.#take([], prepared.position);
    return prepared;
  }

  async #pump(stream: ReplicationStream, changes: ChangeReader): Promise<void> {
    for (;;) {
      const items = await stream.next(BATCH_BYTES);
      let batch: Changes[number][] = [];
      for (const item of items) {
        if (item.kind === 'position') changes.advance(item.lsn, this.#readUntil(item.lsn));
        else {
          const change = await readOrEnd(changes, item.bytes);
          if (change !== null) batch.push(change);
        }
        if (batch.length < this.#order.handlers.mostChanges()) continue;
        await this.#take(batch, changes.position);
        batch = [];
      }
      const isDue = performance.now() - this.#savedAt >= this.#order.access.timing.idleMs;
      if (batch.length > 0 || (isDue && changes.position !== this.#position)) await this.#take(batch, changes.position);
    }
  }

  /** Hands a batch over, and acknowledges it once it is durable. */
  async #take(changes: Changes, position: PostgresPosition): Promise<void> {
    if (this.#isClosed) throw new ClosingError();
    try {
      await this.#order.handlers.take({ changes, position });
    } catch (error) {
      throw new ClosingError('take rejected', { cause: error });
    }
    this.#position = position;
    this.#savedAt = performance.now();
    this.#stream?.acknowledge(parseLsn(position.lsn));
  }

  /** When the server's WAL ended at or before this position, as far as that is known. */
  #readUntil(lsn: bigint): Instant | null {
    let at: Instant | null = null;
    for (let [first] = this.#samples; first !== undefined && first.lsn <= lsn; [first] = this.#samples) {
      at = first.at;
      this.#samples.shift();
    }
    return at;
  }

  #scheduleReport(sql: Connection, changes: ChangeReader): void {
    if (this.#isClosed) return;
    const { tables, access } = this.#order;
    this.#reportTimer = setTimeout(() => {
      const { position } = changes;
      findKnownPublication(sql, position)
        .then((publication) => publishTables(sql, publication, tables))
        .then((readings) => this.#report(sql, position, readings))
        .then(
          () => this.#scheduleReport(sql, changes),
          (error: unknown) => this.#stream?.stop(statementError(sql, error)),
        );
    }, access.timing.reportMs);
  }

  async #report(sql: Connection, position: PostgresPosition, readings: readonly TableReading[]): Promise<void> {
    const at = await serverTime(sql);
    const [row] = await sql.query('SELECT pg_current_wal_flush_lsn()::text AS lsn');
    const lsn = parseLsn(String(row?.['lsn']));
    if (this.#samples.length < MAX_SAMPLES) this.#samples.push({ lsn, at });
    for (const { table, since } of readings) if (since !== null) this.#since.set(table, since);
    const lag = lsn - parseLsn(position.lsn);
    this.#order.handlers.report({
      tables: readings.map((reading) => ({
        ...reading,
        since: reading.problem === null ? (this.#since.get(reading.table) ?? null) : null,
      })),
      lagBytes: Math.max(0, Number(lag)),
    });
  }
}

/** Rejects if another publication has its name. PostgreSQL would go on with the tables of that one. */
async function findKnownPublication(sql: Connection, position: PostgresPosition): Promise<Publication> {
  const found = await findPublication(sql, position.publication);
  if (found?.oid !== position.publicationOid) throw stopped('publication_gone');
  const problem = optionsProblem(found);
  if (problem !== null) throw problem;
  return found;
}

/** Errors of this program, not of the database. */
const isOurs = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;

/** While the stream runs, the code of another statement's error says nothing about the slot. */
const statementError = (sql: Connection, error: unknown): unknown => (isOurs(error) ? error : sql.failure(error));

/** What a reader cannot read is an error of ours, not of the database. */
async function readOrEnd(changes: ChangeReader, message: Buffer): Promise<Changes[number] | null> {
  try {
    return await changes.read(message);
  } catch (error) {
    throw error instanceof SourceFailure ? error : new ClosingError('unreadable message', { cause: error });
  }
}
