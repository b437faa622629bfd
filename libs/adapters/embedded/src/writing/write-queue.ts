import { CarillonError } from '@carillon/kernel';
import type { Load } from './protocol.ts';

/** About the most that one transaction takes, so that no write waits long behind a large one. */
const BATCH_ROWS = 1000;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Rows of a write that takes many times as long as a small one. A transaction of small writes does not wait for it. */
const LARGE_ROWS = 100;

const rowsOf = ({ rows = 1 }: Load): number => rows;

/** A write whose caller waits for its result. */
export type PendingWrite = {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly load: Load;
  resolve(value: unknown): void;
  reject(error: Error): void;
};

/** Writes that wait for a transaction, in their order, and the bytes of all writes that are not settled. */
export class WriteQueue {
  readonly #maxBytes: number;
  readonly #writes: PendingWrite[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#writes.length;
  }

  /** Bytes of writes that wait or are under way. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns why a write of this size is refused, or null if it fits. A single write always fits into an empty queue. */
  refusal(load: Load): CarillonError | null {
    if (this.#bytes === 0 || this.#bytes + load.bytes <= this.#maxBytes) return null;
    const limit = `${this.#maxBytes} bytes are waiting to be written to the data file`;
    return new CarillonError('overloaded', `more than ${limit}; try again`, { limit, retryAfter: 1000 });
  }

  add(write: PendingWrite): void {
    this.#bytes += write.load.bytes;
    this.#writes.push(write);
  }

  /** Returns how many writes the next transaction takes, and whether the next write no longer fits. */
  nextBatch(): { readonly count: number; readonly full: boolean } {
    let rows = 0;
    let size = 0;
    for (const [count, { load }] of this.#writes.entries()) {
      if (count > 0 && rows < LARGE_ROWS && rowsOf(load) >= LARGE_ROWS) return { count, full: true };
      rows += rowsOf(load);
      size += load.bytes;
      if (count > 0 && (rows > BATCH_ROWS || size > BATCH_BYTES)) return { count, full: true };
    }
    return { count: this.#writes.length, full: rows >= BATCH_ROWS || size >= BATCH_BYTES };
  }

  /** Removes and returns the writes of the next transaction. Their bytes count until they are settled. */
  take(): readonly PendingWrite[] {
    return this.#writes.splice(0, this.nextBatch().count);
  }

  resolve(write: PendingWrite, value: unknown): void {
    this.#bytes -= write.load.bytes;
    write.resolve(value);
  }

  reject(write: PendingWrite, error: Error): void {
    this.#bytes -= write.load.bytes;
    write.reject(error);
  }

  rejectAll(error: Error): void {
    for (const write of this.#writes.splice(0)) this.reject(write, error);
  }
}
