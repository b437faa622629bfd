import type { Worker } from 'node:worker_threads';
import { CarillonError } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import type { WalCopier } from '../wal/copier.ts';
import { coalesceWrites, type CoalescedWrites } from './coalesce-writes.ts';
import type { DamageKnown, Failure, FromWriter, Joints, Load, Operations, Reply, ToWriter, Write } from './protocol.ts';
import { WriteQueue, type PendingWrite } from './write-queue.ts';

export const DEFAULT_QUEUE_BYTES = 64 * 1024 * 1024;

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
  /**
   * Returns the writes of one table. Each resolves when durable, and rejects if it was not done or the result is
   * unknown.
   */
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

/** Opens a writer, which starts its thread when it is opened or at the first write. */
export const createWriter = (options: WriterOptions): Writer => new GroupCommit(options);

type Batch = Pick<CoalescedWrites, 'repliesOf'> & { readonly writes: readonly PendingWrite[] };

/**
 * Group commit: the writes that arrive during a commit form the next transaction and share one disk access. No timer delays a write.
 */
class GroupCommit implements Writer {
  readonly #options: WriterOptions;
  readonly #queue: WriteQueue;
  /** The batch that the thread commits now. */
  #underWay: Batch | null = null;
  #thread: Worker | null = null;
  #opening: Promise<void> | null = null;
  #isScheduled = false;
  #isClosing = false;
  /** Called once nothing is queued or under way. */
  readonly #onIdle: (() => void)[] = [];
  #onEnd: (() => void) | null = null;
  #sentAt = 0;
  readonly #counts = { commits: 0, requests: 0, lastCommitMs: 0 };
  #failing: string | null = null;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#queue = new WriteQueue(options.maxQueueBytes);
  }

  writes<Table extends Operations>(): Write<Table> {
    return ((name: string, load: Load, ...args: readonly unknown[]) => this.#enqueue(name, load, args)) as Write<Table>;
  }

  async open(): Promise<void> {
    await this.#launch();
    this.#thread?.unref();
  }

  stats(): WriterStats {
    return {
      waitingRequests: this.#queue.length + (this.#underWay?.writes.length ?? 0),
      waitingBytes: this.#queue.bytes,
      ...this.#counts,
      failing: this.#failing,
    };
  }

  async drain(): Promise<void> {
    this.#isClosing = true;
    if (this.#queue.length > 0 || this.#underWay !== null) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    }
  }

  async close(): Promise<void> {
    await this.drain();
    const last = this.#thread;
    if (!last) return;
    this.#thread = null;
    last.ref();
    const closed = new Promise<void>((resolve) => (this.#onEnd = resolve));
    post(last, { kind: 'close' });
    await closed;
    await last.terminate();
  }

  #launch(): Promise<void> {
    const started = this.#options.start();
    this.#thread = started;
    this.#opening = new Promise((resolve, reject) => {
      let cause: unknown = null;
      started.on('message', (message: FromWriter) => {
        if (message.kind === 'migrating') this.#options.migrating(message.from, message.to);
        if (message.kind === 'ready') resolve();
        if ('log' in message && message.log) this.#options.copier.grew(message.log);
        if (message.kind === 'unopened') reject(errorOf(message.failure));
        if (message.kind === 'replies') this.#settle(message.replies);
        if (message.kind === 'closed') this.#onEnd?.();
      });
      started.on('error', (error: unknown) => {
        cause = error;
      });
      started.on('exit', () => {
        const gone = new CarillonError('log_unavailable', 'the thread that writes the data file ended', {}, { cause });
        reject(gone);
        this.#onEnd?.();
        if (this.#thread === started) this.#lose(gone);
      });
    });
    return this.#opening;
  }

  /** Rejects the batch of a thread that died: it may be committed or not. The next write starts another thread. */
  #lose(error: Error): void {
    this.#thread = null;
    this.#opening = null;
    this.#failing = error.message;
    const lost = this.#underWay?.writes ?? [];
    this.#underWay = null;
    for (const write of lost) this.#queue.reject(write, error);
    this.#schedule();
  }

  #settle(answers: readonly Reply[]): void {
    const done = this.#underWay?.writes ?? [];
    const replies = this.#underWay?.repliesOf(answers) ?? [];
    this.#underWay = null;
    this.#counts.commits += 1;
    this.#counts.requests += done.length;
    this.#counts.lastCommitMs = Math.round(performance.now() - this.#sentAt);
    this.#failing = null;
    // A full batch is sent at once: the thread need not wait until every write is resolved.
    if (this.#queue.nextBatch().full) {
      this.#isScheduled = true;
      void this.#send();
    }
    for (const [at, write] of done.entries()) this.#finish(write, replies[at]);
    this.#schedule();
  }

  #finish(write: PendingWrite, reply: Reply | undefined): void {
    if (reply?.ok) {
      this.#queue.resolve(write, reply.value);
      return;
    }
    const error = this.#errorOf(
      reply?.failure ?? { code: 'log_unavailable', message: 'the thread that writes the data file did not answer' },
    );
    if (error instanceof CarillonError && error.code === 'log_unavailable') this.#failing = error.detail;
    this.#queue.reject(write, error);
  }

  /** Callers see damage as a log that takes nothing, so they keep what they have. */
  #errorOf(failure: Failure): Error {
    if (failure.code !== 'data_damaged') return errorOf(failure);
    return new CarillonError('log_unavailable', this.#options.damage.found(failure.message));
  }

  #schedule(): void {
    if (this.#queue.length === 0 && this.#underWay === null) {
      this.#thread?.unref();
      for (const onIdle of this.#onIdle.splice(0)) onIdle();
      return;
    }
    if (this.#isScheduled || this.#underWay !== null || this.#queue.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    try {
      await (this.#opening ?? this.#launch());
      const room = this.#options.copier.room();
      if (room) await room;
    } catch (error) {
      this.#thread = null;
      this.#opening = null;
      this.#failing = error instanceof Error ? error.message : String(error);
      this.#queue.rejectAll(error as Error);
    }
    this.#isScheduled = false;
    if (this.#underWay !== null || this.#queue.length === 0 || !this.#thread) {
      this.#schedule();
      return;
    }
    const writes = this.#queue.take();
    const { requests, transfer, repliesOf } = coalesceWrites(
      writes.map(({ name, args }) => ({ name, args })),
      this.#options.joints,
    );
    this.#underWay = { writes, repliesOf };
    this.#sentAt = performance.now();
    this.#thread.ref();
    post(this.#thread, { kind: 'batch', now: this.#options.clock.now(), requests }, transfer);
  }

  #enqueue(name: string, load: Load, args: readonly unknown[]): Promise<unknown> {
    if (this.#isClosing) return Promise.reject(new CarillonError('stopping', 'the data file is being closed'));
    const damaged = this.#options.damage.known();
    if (damaged !== null) return Promise.reject(new CarillonError('log_unavailable', damaged));
    const refusal = this.#queue.refusal(load);
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#queue.add({ name, args, load, resolve, reject });
      this.#schedule();
    });
  }
}
