import type { Socket } from 'node:net';
import { waiting } from '../connection/source-failure.ts';
import type { Connection } from '../connection/connect.ts';
import { formatLsn } from './lsn.ts';

/** Bytes that wait for the caller before the socket is paused. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const RESUME_BYTES = MAX_WAITING_BYTES / 2;

export type StreamTiming = {
  /** Time between two reports of the durable position. */
  readonly statusMs: number;
  /** Silence after which the connection counts as lost. */
  readonly silenceMs: number;
};

/** A message of pgoutput, or the position up to which the server has sent everything. */
export type Received =
  | { readonly kind: 'message'; readonly bytes: Buffer }
  | { readonly kind: 'position'; readonly lsn: bigint };

/** What `pg` does not declare of its connection. */
type RawConnection = {
  readonly stream: Socket;
  sendCopyFromChunk(chunk: Buffer): void;
  on(event: 'copyData', listener: (message: { readonly chunk: Buffer }) => void): void;
  once(event: 'replicationStart', listener: () => void): void;
};

const XLOG_DATA = 0x77;
const KEEPALIVE = 0x6b;
const STATUS_UPDATE = 0x72;
/** Bytes of XLogData before the message: kind, start, end, time. */
const XLOG_HEADER = 25;
/** Milliseconds from 1970 to 2000, where PostgreSQL's time begins. */
const POSTGRES_EPOCH_MS = 946_684_800_000;

/**
 * Reads the messages of a replication slot and reports acknowledged positions to the server. A timer repeats the newest
 * acknowledged position, so that the server keeps the connection while the caller is busy.
 */
export class ReplicationStream {
  readonly #connection: Connection;
  readonly #raw: RawConnection;
  readonly #timing: StreamTiming;
  #timer: NodeJS.Timeout | undefined;
  #queue: Received[] = [];
  #waitingBytes = 0;
  #durable: bigint;
  #lastReceived = performance.now();
  #end: { readonly error: unknown } | null = null;
  #wake: (() => void) | undefined;

  private constructor(connection: Connection, durable: bigint, timing: StreamTiming) {
    this.#connection = connection;
    this.#raw = (connection.client as unknown as { readonly connection: RawConnection }).connection;
    this.#durable = durable;
    this.#timing = timing;
  }

  /** Starts reading a slot. Rejects with the error of the server if it refuses. */
  static async start(
    connection: Connection,
    { slot, publication, from }: { readonly slot: string; readonly publication: string; readonly from: bigint },
    timing: StreamTiming,
  ): Promise<ReplicationStream> {
    const stream = new ReplicationStream(connection, from, timing);
    await stream.#start(
      `START_REPLICATION SLOT "${slot}" LOGICAL ${formatLsn(from)} (proto_version '1', publication_names '"${publication}"')`,
    );
    return stream;
  }

  async #start(command: string): Promise<void> {
    const { client } = this.#connection;
    const started = new Promise<void>((resolve) => this.#raw.once('replicationStart', resolve));
    this.#raw.on('copyData', ({ chunk }) => this.#receive(chunk));
    client.on('error', (error) => this.stop(error));
    client.on('end', () => this.stop(new Error('the connection ended')));
    const query = client.query(command).then(
      () => this.stop(new Error('the database server ended the replication stream')),
      (error: unknown) => {
        this.stop(error);
        throw error;
      },
    );
    // A later error of the query is kept in `#end`.
    const late = setTimeout(() => this.#lose(), this.#timing.silenceMs);
    await Promise.race([started, query]).finally(() => clearTimeout(late));
    this.#lastReceived = performance.now();
    this.#timer = setInterval(() => this.#tick(), this.#timing.statusMs);
  }

  #receive(chunk: Buffer): void {
    this.#lastReceived = performance.now();
    if (this.#end !== null) return;
    if (chunk[0] === XLOG_DATA) {
      // A copy, because `pg` uses its buffer again.
      const bytes = Buffer.from(chunk.subarray(XLOG_HEADER));
      this.#waitingBytes += bytes.length;
      this.#queue.push({ kind: 'message', bytes });
      if (this.#waitingBytes >= MAX_WAITING_BYTES) this.#raw.stream.pause();
    } else if (chunk[0] === KEEPALIVE) {
      this.#queue.push({ kind: 'position', lsn: chunk.readBigUInt64BE(1) });
      if (chunk[17] === 1) this.#sendStatus(false);
    }
    this.#wake?.();
  }

  /** Returns what came, in order, at least one item and about `maxBytes`. Rejects with the error that ended the stream. */
  async next(maxBytes: number): Promise<readonly Received[]> {
    while (this.#queue.length === 0 && this.#end === null) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#queue.length === 0) throw this.#end?.error;
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && bytes < maxBytes) {
      const item = this.#queue[count];
      if (item?.kind === 'message') bytes += item.bytes.length;
      count += 1;
    }
    const items = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    this.#waitingBytes -= bytes;
    if (this.#waitingBytes <= RESUME_BYTES && this.#raw.stream.isPaused()) {
      this.#lastReceived = performance.now();
      this.#raw.stream.resume();
    }
    return items;
  }

  /** Tells the server that everything up to this position is durable. */
  acknowledge(lsn: bigint): void {
    this.#durable = lsn;
    this.#sendStatus(false);
  }

  /** Ends the stream at once. What came and was not taken is dropped. */
  async close(): Promise<void> {
    this.stop(new Error('closed'));
    this.#queue = [];
    await this.#connection.end();
  }

  /** Ends the stream with an error, after what came before it. */
  stop(error: unknown): void {
    this.#end ??= { error };
    clearInterval(this.#timer);
    this.#wake?.();
  }

  #tick(): void {
    const isSilent = performance.now() - this.#lastReceived > this.#timing.silenceMs;
    if (isSilent && !this.#raw.stream.isPaused()) {
      this.#lose();
      return;
    }
    // The answer shows that the server is there, and how far it is.
    this.#sendStatus(true);
  }

  #lose(): void {
    this.stop(waiting('unreachable', `The server was silent for ${this.#timing.silenceMs / 1000} s.`));
    this.#raw.stream.destroy();
  }

  #sendStatus(wantsAnswer: boolean): void {
    const status = Buffer.alloc(34);
    status[0] = STATUS_UPDATE;
    // Written, flushed, applied: the server deletes WAL up to the second.
    for (const at of [1, 9, 17]) status.writeBigUInt64BE(this.#durable, at);
    status.writeBigInt64BE(BigInt(Date.now() - POSTGRES_EPOCH_MS) * 1000n, 25);
    status[33] = wantsAnswer ? 1 : 0;
    this.#raw.sendCopyFromChunk(status);
  }
}
