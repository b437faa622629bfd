import type { Instant, LogId } from '@carillon/kernel';

/** Where one consumer group stands in one partition of one topic; written last, moving only forwards (promise 3). */
export type Checkpoint = {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly logId: LogId;
  /** Next offset to read. */
  readonly next: number;
  /** Highest append time of the records before `next`; 0 before the first. */
  readonly watermark: Instant;
  /** Newest configuration number that a marker of this partition named; -1 before any. */
  readonly configNumber: number;
};

/**
 * Reads the stored text of a watermark: a number. Earlier releases stored a clock per stream there, as an object, of which
 * the highest counts; they read a number as an object without clocks.
 */
export function readWatermark(stored: string): Instant {
  const value = JSON.parse(stored) as Instant | Readonly<Record<string, Instant>>;
  return typeof value === 'number' ? value : Math.max(0, ...Object.values(value));
}

/**
 * `done`: written, or an equal one was there. `refused`: the stored one is newer; the caller has lost its partition and
 * must start it again.
 */
export type FencedWrite = 'done' | 'refused';

export type CheckpointStore = {
  load(group: string, topic: string, partition: number): Promise<Checkpoint | null>;
  /** Refuses one whose `next` is below the stored one, or of another log id. Durable when it resolves. */
  save(checkpoint: Checkpoint): Promise<FencedWrite>;
};
