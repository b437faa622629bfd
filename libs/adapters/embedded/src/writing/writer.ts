import type { Worker } from 'node:worker_threads';
import { CarillonError } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import type { WalCopier } from '../wal/copier.ts';
import { coalesceWrites, type CoalescedWrites } from './coalesce-writes.ts';
import type { DamageKnown, Failure, FromWriter, Joints, Load, Operations, Reply, ToWriter, Write } from './protocol.ts';

/** One transaction takes at most about this much, so that nobody waits long behind a large one. */
const BATCH_ROWS = 1000;
const BATCH_BYTES = 4 * 1024 * 1024;
export const DEFAULT_QUEUE_BYTES = 64 * 1024 * 1024;

type Pending = {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly load: Load;
  resolve(value: unknown): void;
  reject(error: Error): void;
};

export type WriterStats = {
  readonly waitingRequests: number;
  readonly waitingBytes: number;
  readonly commits: number;
  readonly requests: number;
  readonly lastCommitMs: number;
  /** Why the last batch failed; null while writing works. */
  readonly failing: string | null;
};

export type WriterOptions = {
  readonly clock: Clock;
  readonly maxQueueBytes: number;
  readonly joints: Joints;
  readonly damage: DamageKnown;
  readonly copier: Pick<WalCopier, 'grew' | 'room'>;
  /** Is told once where opening brings the file forward to another version. */
  readonly migrating: (from: number, to: number) => void;
  /** Starts a thread; called again when one died. */
  start(): Worker;
};

/** Messages between threads have no origin, whatever browsers know of that name. */
const post = (thread: Worker, message: ToWriter, transfer: readonly ArrayBuffer[] = []): void =>
  thread.postMessage(message, transfer);

export type Writer = {
  /** The writes of one table. Each resolves once it is durable and rejects if it was not done, or nobody can say. */
  writes<Table extends Operations>(): Write<Table>;
  /** Resolves when the thread has opened the file, rejects with the reason why it cannot. */
  open(): Promise<void>;
  stats(): WriterStats;
  /** Refuses what comes after; resolves when what is queued is done. */
  drain(): Promise<void>;
  /** Drains and ends the thread. Safe to call twice. */
  close(): Promise<void>;
};

const errorOf = (failure: Failure): Error =>
  failure.code ? new CarillonError(failure.code, failure.message) : new Error(failure.message);

/**
 * Group commit: whatever arrives while a commit is under way forms the next transaction, so the cost of one visit to the
 * disk is shared without a timer and without waiting when there is nothing to share.
 */
export function createWriter(options: WriterOptions): Writer {
  const queue: Pending[] = [];
  let underWay: (Pick<CoalescedWrites, 'repliesOf'> & { readonly writes: readonly Pending[] }) | null = null;
  let thread: Worker | null = null;
  let opening: Promise<void> | null = null;
  let scheduled = false;
  let closing = false;
  const idle: (() => void)[] = [];
  let ended: (() => void) | null = null;
  let bytes = 0;
  let sentAt = 0;
  const counts = { commits: 0, requests: 0, lastCommitMs: 0 };
  let failing: string | null = null;

  function launch(): Promise<void> {
    const started = options.start();
    thread = started;
    opening = new Promise((resolve, reject) => {
      let cause: unknown = null;
      started.on('message', (message: FromWriter) => {
        if (message.kind === 'migrating') options.migrating(message.from, message.to);
        if (message.kind === 'ready') resolve();
        if ('log' in message && message.log) options.copier.grew(message.log);
        if (message.kind === 'unopened') reject(errorOf(message.failure));
        if (message.kind === 'replies') settle(message.replies);
        if (message.kind === 'closed') ended?.();
      });
      started.on('error', (error: unknown) => {
        cause = error;
      });
      started.on('exit', () => {
        const gone = new CarillonError('log_unavailable', 'the thread that writes the data file ended', {}, { cause });
        reject(gone);
        ended?.();
        if (thread === started) lose(gone);
      });
    });
    return opening;
  }

  /** The thread died with a batch in hand: nobody knows whether that was committed. The next write starts another. */
  function lose(error: Error): void {
    thread = null;
    opening = null;
    failing = error.message;
    const lost = underWay?.writes ?? [];
    underWay = null;
    for (const pending of lost) finish(pending, () => pending.reject(error));
    schedule();
  }

  function finish(pending: Pending, tell: () => void): void {
    bytes -= pending.load.bytes;
    tell();
  }

  function settle(answers: readonly Reply[]): void {
    const done = underWay?.writes ?? [];
    const replies = underWay?.repliesOf(answers) ?? [];
    underWay = null;
    counts.commits += 1;
    counts.requests += done.length;
    counts.lastCommitMs = Math.round(performance.now() - sentAt);
    failing = null;
    // What waits is a transaction already: the thread need not wait with it until everyone has been told.
    if (nextBatch().full) {
      scheduled = true;
      void send();
    }
    for (const [at, pending] of done.entries()) {
      const reply = replies[at];
      if (reply?.ok) {
        finish(pending, () => pending.resolve(reply.value));
        continue;
      }
      const error = told(reply?.failure ?? { code: 'log_unavailable', message: 'the writer gave no answer' });
      if (error instanceof CarillonError && error.code === 'log_unavailable') failing = error.detail;
      finish(pending, () => pending.reject(error));
    }
    schedule();
  }

  /** To those who write, damage is a log that takes nothing: they keep what they have. */
  function told(failure: Failure): Error {
    if (failure.code !== 'data_damaged') return errorOf(failure);
    return new CarillonError('log_unavailable', options.damage.found(failure.message));
  }

  function schedule(): void {
    if (queue.length === 0 && underWay === null) {
      thread?.unref();
      for (const tell of idle.splice(0)) tell();
      return;
    }
    if (scheduled || underWay !== null || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => void send());
  }

  async function send(): Promise<void> {
    try {
      await (opening ?? launch());
      const room = options.copier.room();
      if (room) await room;
    } catch (error) {
      thread = null;
      opening = null;
      failing = error instanceof Error ? error.message : String(error);
      for (const pending of queue.splice(0)) finish(pending, () => pending.reject(error as Error));
    }
    scheduled = false;
    if (underWay !== null || queue.length === 0 || !thread) {
      schedule();
      return;
    }
    const writes = queue.splice(0, nextBatch().count);
    const { requests, transfer, repliesOf } = coalesceWrites(
      writes.map(({ name, args }) => ({ name, args })),
      options.joints,
    );
    underWay = { writes, repliesOf };
    sentAt = performance.now();
    thread.ref();
    post(thread, { kind: 'batch', now: options.clock.now(), requests }, transfer);
  }

  /** What the next transaction takes of the queue, from its head, and whether more would not fit. */
  function nextBatch(): { readonly count: number; readonly full: boolean } {
    let rows = 0;
    let size = 0;
    for (const [count, { load }] of queue.entries()) {
      rows += load.rows ?? 1;
      size += load.bytes;
      if (count > 0 && (rows > BATCH_ROWS || size > BATCH_BYTES)) return { count, full: true };
    }
    return { count: queue.length, full: rows >= BATCH_ROWS || size >= BATCH_BYTES };
  }

  function enqueue(name: string, load: Load, args: readonly unknown[]): Promise<unknown> {
    if (closing) return Promise.reject(new CarillonError('stopping', 'the data file is being closed'));
    const damaged = options.damage.known();
    if (damaged !== null) return Promise.reject(new CarillonError('log_unavailable', damaged));
    if (bytes > 0 && bytes + load.bytes > options.maxQueueBytes) {
      const limit = `${options.maxQueueBytes} bytes waiting to be written`;
      return Promise.reject(
        new CarillonError('overloaded', `more than ${limit}; come again`, { limit, retryAfter: 1000 }),
      );
    }
    bytes += load.bytes;
    return new Promise((resolve, reject) => {
      queue.push({ name, args, load, resolve, reject });
      schedule();
    });
  }

  async function drain(): Promise<void> {
    closing = true;
    if (queue.length > 0 || underWay !== null) await new Promise<void>((resolve) => idle.push(resolve));
  }

  return {
    writes: <Table extends Operations>() =>
      ((name: string, load: Load, ...args: readonly unknown[]) => enqueue(name, load, args)) as Write<Table>,
    async open() {
      await launch();
      thread?.unref();
    },
    stats: () => ({
      waitingRequests: queue.length + (underWay?.writes.length ?? 0),
      waitingBytes: bytes,
      ...counts,
      failing,
    }),
    drain,
    async close() {
      await drain();
      const last = thread;
      if (!last) return;
      thread = null;
      last.ref();
      const closed = new Promise<void>((resolve) => (ended = resolve));
      post(last, { kind: 'close' });
      await closed;
      await last.terminate();
    },
  };
}
