import type { NewRecord, TopicName } from '@carillon/ports';
import type { Joint } from '../writing/protocol.ts';

/** Records of one append or of several, laid out for the way to the writer's thread: all values in one buffer. */
export type PackedRecords = {
  readonly partitionIds: readonly number[];
  readonly keys: readonly string[];
  readonly headers: readonly string[];
  readonly ends: readonly number[];
  readonly values: Uint8Array;
};

/** Copies the values: what the caller does to its bytes later is its own affair. */
export function packRecords(
  records: readonly NewRecord[],
  idOf: (topic: TopicName, partition: number) => number,
  room: (bytes: number) => Buffer = (bytes) => Buffer.allocUnsafe(bytes),
): PackedRecords {
  const partitionIds = records.map(({ topic, partition }) => idOf(topic, partition));
  const values = room(records.reduce((sum, record) => sum + record.value.length, 0));
  let end = 0;
  const ends = records.map(({ value }) => {
    values.set(value, end);
    end += value.length;
    return end;
  });
  const headers = records.map((record) => JSON.stringify(record.headers));
  return { partitionIds, keys: records.map(({ key }) => key), headers, ends, values };
}

export const sizeOf = (packed: PackedRecords): number =>
  packed.headers.reduce((sum, text) => sum + text.length + 128, packed.values.length);

/** Appends that wait together are one request: an event costs a fifth of a message between threads of its own. */
export const appendJoint = {
  join(all: readonly PackedRecords[]) {
    // Not from a pool, which would be lost to this thread with it.
    const values = new Uint8Array(all.reduce((sum, one) => sum + one.values.length, 0));
    const ends: number[] = [];
    let begin = 0;
    for (const one of all) {
      values.set(one.values, begin);
      for (const end of one.ends) ends.push(begin + end);
      begin += one.values.length;
    }
    const argument: PackedRecords = {
      partitionIds: all.flatMap((one) => one.partitionIds),
      keys: all.flatMap((one) => one.keys),
      headers: all.flatMap((one) => one.headers),
      ends,
      values,
    };
    return { argument, transfer: [values.buffer] };
  },
  split(offsets: readonly number[], all: readonly PackedRecords[]) {
    let begin = 0;
    return all.map(({ ends }) => offsets.slice(begin, (begin += ends.length)));
  },
} satisfies Joint;
