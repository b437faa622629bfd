import {
  formatMicroseconds,
  type ReadChange,
  type PostgresPosition,
  type UnreadableChange,
} from '@carillon/domain/changes';
import type { Instant } from '@carillon/kernel';
import { PgoutputParser } from 'pg-logical-replication/dist/output-plugins/pgoutput/pgoutput-parser.js';
import type {
  Message,
  MessageBegin,
  MessageDelete,
  MessageInsert,
  MessageRelation,
  MessageUpdate,
} from 'pg-logical-replication/dist/output-plugins/pgoutput/pgoutput.types.js';
import { stopped, type SourceFailure } from '../connection/source-failure.ts';
import type { ValueReaders } from '../values/read-value.ts';
import { readRowText } from '../values/row-text.ts';
import { formatLsn, parseLsn } from './lsn.ts';
import { readRow, type ReadColumn } from './read-row.ts';

/** First bytes of messages: I, U and D. */
const ROW_MESSAGES: ReadonlySet<number> = new Set([0x49, 0x55, 0x44]);

type RowMessage = MessageInsert | MessageUpdate | MessageDelete;

type Table = { readonly name: string; readonly columns: readonly ReadColumn[] };

/** The transaction that is being read. */
type Transaction = {
  readonly commitLsn: string;
  /** Microseconds since 1970, as text. */
  readonly commitTime: string;
  readonly committedAt: Instant;
  /** RFC 3339 in UTC with microseconds. */
  readonly at: string;
  readonly tx: number;
  /** Changes that came so far, of all published tables. */
  changes: number;
  /** Changes at its beginning that are on the log already. Infinity: it is on the log whole. */
  readonly known: number;
};

export type ChangeReaderOptions = {
  readonly integration: string;
  /** Names of the tables to read, as `schema.table`. Changes of other tables are counted only. */
  readonly tables: ReadonlySet<string>;
  readonly from: PostgresPosition;
  readonly values: ValueReaders;
};

/** The library's parser with the row reader that keeps values as text. */
function createParser(): PgoutputParser {
  const parser = new PgoutputParser();
  Object.assign(parser, { readTuple: readRowText });
  return parser;
}

const lsnOf = (text: string | null): string => formatLsn(parseLsn(text ?? '0/0'));

/** Turns the messages of pgoutput into changes and keeps the position behind them. */
export class ChangeReader {
  readonly #options: ChangeReaderOptions;
  readonly #parser = createParser();
  readonly #tables = new Map<number, Table>();
  #transaction: Transaction | null = null;
  #position: PostgresPosition;

  constructor(options: ChangeReaderOptions) {
    this.#options = options;
    this.#position = options.from;
  }

  /** The position behind everything that was read. */
  get position(): PostgresPosition {
    return this.#position;
  }

  /** Reads one message. Null: it is no change of a table that is read, or the change is on the log already. */
  async read(message: Buffer): Promise<ReadChange | UnreadableChange | null> {
    if (ROW_MESSAGES.has(message[0] ?? 0)) return this.#change(message);
    const read = this.#parser.parse(message);
    switch (read.tag) {
      case 'begin':
        this.#begin(read);
        return null;
      case 'commit':
        this.#commit(lsnOf(read.commitEndLsn));
        return null;
      case 'relation':
        await this.#prepare(read);
        return null;
      case 'insert':
      case 'update':
      case 'delete':
      case 'origin':
      case 'type':
      case 'message':
      case 'truncate':
        return null;
    }
  }

  /**
   * Moves the position to where the server is, as far as no transaction is under way. `readAt`: the server had no later
   * change then. Throws SourceFailure if the server is past a transaction that is on the log in part.
   */
  advance(lsn: bigint, readAt: Instant | null): void {
    const { partial } = this.#position;
    if (this.#transaction !== null || lsn < parseLsn(this.#position.lsn)) return;
    if (partial !== null && lsn > parseLsn(partial.commitLsn)) throw missing(partial.commitLsn);
    if (partial !== null) return;
    const at = Math.max(this.#position.at, readAt ?? 0);
    this.#position = { ...this.#position, lsn: formatLsn(lsn), at };
  }

  /**
   * The server sends transactions again that are on the log, if it does not know how far they were acknowledged. Those were
   * committed before the position was saved. A later commit time means that the database was set back and its WAL has grown
   * past the position since.
   */
  #begin({ commitLsn, commitTime, xid }: MessageBegin): void {
    const lsn = lsnOf(commitLsn);
    const { partial, lsn: saved, at } = this.#position;
    const isWhole = parseLsn(lsn) < parseLsn(saved);
    if (!isWhole && partial !== null && partial.commitLsn !== lsn) throw missing(partial.commitLsn);
    const microseconds = BigInt(commitTime.toString());
    const transaction = {
      commitLsn: lsn,
      commitTime: microseconds.toString(),
      committedAt: Number(microseconds / 1000n),
      at: formatMicroseconds(microseconds),
      tx: xid >>> 0,
      changes: 0,
      known: isWhole ? Number.POSITIVE_INFINITY : (partial?.changes ?? 0),
    };
    if (transaction.known > 0 && this.#commitInstant(transaction) > at) {
      throw stopped('went_back', `The transaction at ${lsn} is another one than Carillon read there.`);
    }
    this.#transaction = transaction;
  }

  #commit(endLsn: string): void {
    const transaction = this.#transaction;
    this.#transaction = null;
    if (transaction?.known === Number.POSITIVE_INFINITY) return;
    const at = transaction === null ? this.#position.at : this.#commitInstant(transaction);
    this.#position = { ...this.#position, lsn: endLsn, partial: null, at };
  }

  /** Commit times need not rise with the order of commits. */
  #commitInstant({ committedAt }: Transaction): Instant {
    return Math.max(this.#position.at, committedAt);
  }

  async #prepare({ relationOid, schema, name, columns }: MessageRelation): Promise<void> {
    const { values } = this.#options;
    await values.prepare(columns.map(({ typeOid }) => typeOid));
    this.#tables.set(relationOid, {
      name: `${schema}.${name}`,
      columns: columns.map((column) => ({ name: column.name, read: values.reader(column.typeOid) })),
    });
  }

  #parseRow(message: Buffer): RowMessage {
    const read = this.#parser.parse(message);
    if (!isRow(read)) throw new Error(`the database sent the message ${read.tag}, which is not a row change`);
    return read;
  }

  #change(message: Buffer): ReadChange | UnreadableChange | null {
    const transaction = this.#transaction;
    const table = this.#tables.get(message.readInt32BE(1));
    if (transaction === null || table === undefined)
      throw new Error('the database sent a row change outside a transaction');
    transaction.changes += 1;
    if (transaction.changes <= transaction.known) return null;
    const { commitLsn, commitTime, changes, tx, at } = transaction;
    this.#position = {
      ...this.#position,
      partial: { commitLsn, changes },
      at: this.#commitInstant(transaction),
    };
    if (!this.#options.tables.has(table.name)) return null;
    const source = {
      integration: this.#options.integration,
      table: table.name,
      tx,
      position: `${commitLsn}:${changes}`,
      at,
    };
    const identity = [this.#position.systemId, commitLsn, commitTime, String(changes)];
    try {
      return { change: { ...rowsOf(this.#parseRow(message), table.columns), source }, identity };
    } catch (error) {
      return { source, identity, error };
    }
  }
}

const missing = (commitLsn: string): SourceFailure =>
  stopped('went_back', `The transaction at ${commitLsn} does not come again.`);

const isRow = (message: Message): message is RowMessage => ['insert', 'update', 'delete'].includes(message.tag);

const union = (some: readonly string[], others: readonly string[]): readonly string[] =>
  others.length === 0 ? some : [...new Set([...some, ...others])];

type Rows = Pick<ReadChange['change'], 'op' | 'event' | 'previous' | 'unknown'>;

/** Without REPLICA IDENTITY FULL the database sends no row before an update, and of a deleted row its key only. */
function rowsOf(message: RowMessage, columns: readonly ReadColumn[]): Rows {
  switch (message.tag) {
    case 'insert': {
      const { row, unknown } = readRow(columns, message.new);
      return { op: 'create', event: row, previous: null, unknown };
    }
    case 'update': {
      const { row, unknown } = readRow(columns, message.new);
      if (message.old === null) return { op: 'update', event: row, unknown };
      const before = readRow(columns, message.old);
      return { op: 'update', event: row, previous: before.row, unknown: union(unknown, before.unknown) };
    }
    case 'delete': {
      const { row, unknown } = readRow(columns, message.old ?? message.key ?? {});
      return { op: 'delete', event: row, previous: row, unknown };
    }
  }
}
