import type { Duration } from '@carillon/kernel';

/** A record in a partition of the topic that the consumer reads. */
export type Place = { readonly partition: number; readonly offset: number };

type Waiting = { readonly left: Map<number, number>; readonly done: () => void };

/**
 * Progress of one consumer in the partitions that this process reads of a topic, for writers that must not run far
 * ahead of it. In memory only: after a restart it starts at the consumer's position.
 */
export class Progress {
  readonly #next = new Map<number, number>();
  readonly #ends = new Map<number, number>();
  readonly #waiting = new Set<Waiting>();

  /** Everything below `next` is done. Called with each saved position, and with the first one. */
  reached(partition: number, next: number): void {
    this.#next.set(partition, next);
    for (const waiting of this.#waiting) {
      const offset = waiting.left.get(partition);
      if (offset !== undefined && offset < next) this.#crossOff(waiting, partition);
    }
  }

  /** The partition ended at this offset when it was last read. */
  sawEnd(partition: number, end: number): void {
    this.#ends.set(partition, end);
  }

  /** Returns the partitions that are done up to the end that was last seen, each with the next offset. */
  caughtUp(): readonly Place[] {
    return [...this.#next].flatMap(([partition, offset]) => {
      const end = this.#ends.get(partition);
      return end !== undefined && offset >= end ? [{ partition, offset }] : [];
    });
  }

  /** Marks a partition as no longer read by this process. Callers of `passed` stop waiting for its records. */
  left(partition: number): void {
    this.#next.delete(partition);
    this.#ends.delete(partition);
    for (const waiting of this.#waiting) this.#crossOff(waiting, partition);
  }

  /** Resolves once all these records are done that this process reads, and at the latest after `patience`. */
  passed(places: readonly Place[], patience: Duration): Promise<void> {
    const left = new Map<number, number>();
    for (const { partition, offset } of places) {
      const next = this.#next.get(partition);
      if (next !== undefined && offset >= next) left.set(partition, Math.max(offset, left.get(partition) ?? 0));
    }
    if (left.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting: Waiting = {
        left,
        done: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve();
        },
      };
      const timer = setTimeout(waiting.done, patience);
      this.#waiting.add(waiting);
    });
  }

  #crossOff(waiting: Waiting, partition: number): void {
    if (waiting.left.delete(partition) && waiting.left.size === 0) waiting.done();
  }
}
