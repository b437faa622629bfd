import type {
  PostgresPosition,
  ReadChange,
  SourceProblem,
  StoppedReason,
  TableGap,
  TableReason,
  UnreadableChange,
  WaitingReason,
} from '@carillon/domain/changes';
import type { Instant, Result } from '@carillon/kernel';

/** A database to read, with its secrets resolved. Nothing of it reaches a log, a trace or a response. */
export type SourceTarget = {
  /** Names of workspace and integration. */
  readonly workspace: string;
  readonly integration: string;
  readonly url: string;
  /** PEM of the authority that signed the server's certificate. Null: the public authorities. */
  readonly ca: string | null;
};

export type SourceColumn = {
  readonly name: string;
  /** Type in the database's notation, such as `numeric(12,2)`. */
  readonly type: string;
  /** Part of the primary key. */
  readonly key: boolean;
};

export type SourceTable = {
  /** `schema.table`. */
  readonly table: string;
  readonly columns: readonly SourceColumn[];
  /** Columns that the database sends of the row before an update: all, the key, or none for want of key and replica identity. */
  readonly identity: 'full' | 'key' | 'nothing';
  /** Why it cannot be read. Null if it can. */
  readonly problem: SourceProblem<TableReason> | null;
};

/** Whether the changes of a table can be read. */
export type TableCheck = Pick<SourceTable, 'table' | 'identity' | 'problem'>;

/** The result of a check. It changes nothing in the database. */
export type SourceCheck = {
  /** Server version such as `PostgreSQL 15.18`. Null if it was not reached. */
  readonly server: string | null;
  /** Problems for which a reader would wait. */
  readonly problems: readonly SourceProblem<WaitingReason>[];
  /** Sentences about what works but should be changed, each with its SQL. */
  readonly warnings: readonly { readonly detail: string; readonly fix: string | null }[];
  /** The tables that were asked about, as a reader of these tables would find them. Empty if there are problems. */
  readonly tables: readonly TableCheck[];
};

/** A table or topic that is read, or why it is not. */
export type TableReading = {
  /** `schema.table`, or the name of a topic. */
  readonly table: string;
  /** Since when its changes are read. Null if it is not read, or if this reader did not publish it: the caller knows. */
  readonly since: Instant | null;
  readonly problem: SourceProblem<TableReason> | null;
  /** Records of the topic that are not read yet. Absent for a table, and until it is known. */
  readonly lagRecords?: number;
  /** Changes when the table leaves the publication and enters it again. Absent if it is not in the publication, or was just added. */
  readonly entry?: string;
  /** The newest span in which the table was not read after it had been. `to` is null while that lasts. Kept by the caller. */
  readonly gap?: TableGap;
};

/** Changes that were read, in commit order, and the position after them. Without changes only the position moved on. */
export type ReadBatch = {
  readonly changes: readonly (ReadChange | UnreadableChange)[];
  readonly position: PostgresPosition;
};

export type SourceReport = {
  readonly tables: readonly TableReading[];
  /** Bytes of the database's log that are not read yet. */
  readonly lagBytes: number;
};

export type SourceHandlers = {
  /**
   * Makes a batch durable together with its position. The reader acknowledges the position to the database after it has
   * resolved, and never before. Batches come one at a time, in order. If it rejects, the reader ends.
   */
  take(batch: ReadBatch): Promise<void>;
  /** Returns how many changes the next batch may hold. Asked before each batch. */
  mostChanges(): number;
  /** Called when tables change, and every few seconds while it reads. */
  report(report: SourceReport): void;
};

/** Why a reader ended. `closed`: the caller closed it, or `take` rejected. */
export type SourceEnd =
  | { readonly kind: 'closed'; readonly error: unknown }
  | ({ readonly kind: 'waiting' } & SourceProblem<WaitingReason>)
  | ({ readonly kind: 'stopped' } & SourceProblem<StoppedReason>);

export type SourceReader<End = SourceEnd> = {
  /** Resolves when the reader has ended and its connections are closed. Never rejects. */
  readonly ended: Promise<End>;
  /** Stops reading. Resolves after the last `take`. Safe to call twice. */
  close(): Promise<void>;
};

/**
 * Reads the changes of databases. One reader of a source may run at a time; the database refuses a second one (`in_use`).
 */
export type ChangeSources = {
  /**
   * Looks at the server and at these tables, and changes nothing. Warns of unread replication slots of Carillon that
   * are missing in `knownSlots`. Never rejects because of the server.
   */
  check(target: SourceTarget, tables: readonly string[], knownSlots?: readonly string[]): Promise<SourceCheck>;
  /** Returns the tables that the role may see, by name, at most 1,000. */
  tables(target: SourceTarget): Promise<Result<readonly SourceTable[], SourceProblem<WaitingReason>>>;
  /**
   * Reads the changes of `tables` after a position. Null makes publication and slot first: it calls `take` with their names
   * before it makes them, so that a crash leaves no slot that is not known, and with the first position before it reads. At each start it checks that nothing is missing between position and slot; if something is, it
   * ends `stopped`.
   */
  open(
    target: SourceTarget,
    tables: readonly string[],
    from: PostgresPosition | null,
    handlers: SourceHandlers,
  ): SourceReader;
  /**
   * Returns the position at which a reset continues: at `from` if the cause of the stop is gone, at the slot if it is
   * usable, else at a new publication and slot. `reason`: why the source stopped.
   */
  reset(
    target: SourceTarget,
    tables: readonly string[],
    from: PostgresPosition,
    reason: StoppedReason,
  ): Promise<Result<PostgresPosition, SourceProblem<WaitingReason>>>;
  /** Drops slot and publication. Idempotent. Refused if the URL leads to another server than that of the position. */
  drop(target: SourceTarget, position: PostgresPosition): Promise<Result<null, SourceProblem<WaitingReason>>>;
  /** SQL that drops slot and publication by hand. */
  dropSql(position: PostgresPosition): string;
};
