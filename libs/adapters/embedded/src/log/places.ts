/** Offsets that fit under one partition id: a trillion records, with room for eight thousand partitions below 2^53. */
export const PLACES_PER_PARTITION = 2 ** 40;

/** Where a record stands in the table: neighbours in a partition are neighbours in the file. */
export const placeOf = (partitionId: number, offset: number): number => partitionId * PLACES_PER_PARTITION + offset;
export const offsetOf = (partitionId: number, place: number): number => place - partitionId * PLACES_PER_PARTITION;

/** A partition as the log counts it; `id` is its number within the file. */
export type PartitionRow = {
  readonly id: number;
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly next: number;
};
