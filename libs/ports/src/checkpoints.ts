import type { Instant, LogId } from '@carillon/kernel';

/** Position of a consumer group in one partition of a topic. It is written last and only moves forward (promise 3). */
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
 * Reads the stored text of a watermark, a number. Earlier releases stored an object with a clock per stream; the
 * highest clock counts. They in turn read a number as an object without clocks.
 */
export function readWatermark(stored: string): Instant {
  const value = JSON.parse(stored) as Instant | Readonly<Record<string, Instant>>;
  return typeof value === 'number' ? value : Math.max(0, ...Object.values(value));
}

/**
 * `done`: the checkpoint is stored. `refused`: a newer checkpoint is stored, so the caller has lost its partition and
 * must start it again.
 */
export type FencedWrite = 'done' | 'refused';

export type CheckpointStore = {
  load(group: string, topic: string, partition: number): Promise<Checkpoint | null>;
  /**
   * Stores the checkpoint. Refuses it if the stored `next` is higher or belongs to another log id. Durable when it
   * resolves.
   */
  save(checkpoint: Checkpoint): Promise<FencedWrite>;
};
