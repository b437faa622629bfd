import type { ErrorCode, Instant } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import type { Statements } from '../statements.ts';
import type { DocumentTable } from '../schema/document-tables.ts';
import type { WalBounds } from '../wal/bounds.ts';
import type { WalState } from '../wal/wal.ts';

/** What an operation of the writer sees: the open transaction, and the time at which its batch was made. */
export type Transaction = { readonly sql: Statements; readonly now: () => Instant };

/** A table of named writes; each runs inside the transaction of its batch and never waits for anything. */
export type Operations = Readonly<Record<string, (...args: never[]) => unknown>>;

/** How much a write takes of a transaction and of the queue. */
export type Load = { readonly bytes: number; readonly rows?: number };

/** Sends one write of a table to the writer; resolves with what it returned once it is durable. */
export type Write<Table extends Operations> = <Name extends keyof Table & string>(
  name: Name,
  load: Load,
  ...args: Parameters<Table[Name]>
) => Promise<ReturnType<Table[Name]>>;

export type Request = { readonly name: string; readonly args: readonly unknown[] };

/**
 * How several queued writes of the same name are sent to the writer thread as one request. They succeed or fail
 * together.
 */
export type Joint = {
  readonly join: (all: readonly never[]) => { readonly argument: unknown; readonly transfer: readonly ArrayBuffer[] };
  /** Returns the result of each write from the result of the joint request. */
  readonly split: (value: never, all: readonly never[]) => readonly unknown[];
};
export type Joints = Readonly<Record<string, Joint>>;

export type Failure = { readonly code: ErrorCode | null; readonly message: string };
export type Reply = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: Failure };

/** A topic of the log, as the writer makes it. */
export type LogTopic = {
  readonly name: TopicName;
  readonly isSingleSequence: boolean;
  /** `forever`, or days such as `30d`: noted when the topic is made, so that a later release removes nothing earlier. */
  readonly retention: string;
};

export type WriterSettings = {
  readonly file: string;
  readonly logId: string;
  /** Topics that are made if they are missing. The thread gets them, so that it loads no schemas of records and of HTTP. */
  readonly topics: readonly LogTopic[];
  /** Null: as stored, or the default. */
  readonly partitions: number | null;
  readonly createdAt: Instant;
  /** Tables that are made if they are missing. */
  readonly documentTables: readonly DocumentTable[];
  /** How long to wait for a lock that some other program holds on the file. */
  readonly busyTimeout: number;
  /** Size that the file may have at most; null: as large as the disk allows. */
  readonly maxFileBytes: number | null;
  readonly walBounds: WalBounds;
};

/** Known damage of the data file. `found` returns the description of the first damage. */
export type DamageKnown = { known(): string | null; found(what: string): string };

export type ToWriter =
  | {
      readonly kind: 'batch';
      readonly now: Instant;
      readonly requests: readonly Request[];
    }
  | { readonly kind: 'close' };

export type FromWriter =
  /** Comes before `ready` or `unopened`, where the file is brought forward to another version. */
  | { readonly kind: 'migrating'; readonly from: number; readonly to: number }
  | { readonly kind: 'ready'; readonly log: WalState }
  | { readonly kind: 'unopened'; readonly failure: Failure }
  /** `log`: the write-ahead log after it; null where nothing was committed. */
  | { readonly kind: 'replies'; readonly replies: readonly Reply[]; readonly log: WalState | null }
  | { readonly kind: 'closed' };
