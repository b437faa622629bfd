/** Offsets that fit under one partition id: a trillion records, with room for eight thousand partitions below 2^53. */
const SPAN = 2 ** 40;

/** Where a record stands in the table: neighbours in a partition are neighbours in the file. */
export const placeOf = (partitionId: number, offset: number): number => partitionId * SPAN + offset;
export const offsetOf = (partitionId: number, place: number): number => place - partitionId * SPAN;

/** A partition as the log counts it; `id` is its number within the file. */
export type PartitionRow = {
  readonly id: number;
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly next: number;
};
