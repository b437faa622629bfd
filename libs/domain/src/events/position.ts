import type { LogId } from '@carillon/kernel';

/** Where a record stands: positions of another log id never compare (architecture section 4). */
export type Position = {
  readonly logId: LogId;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
};

export const formatPosition = (at: Position): string => `${at.topic}/${at.partition}@${at.offset}`;

/** Reads what `formatPosition` wrote; undefined for other text. An event that stayed behind in a move has an offset below 0. */
export function readPosition(text: string): Omit<Position, 'logId'> | undefined {
  const [, topic = '', partition, offset] = /^([^/]+)\/(\d+)@(-?\d+)$/.exec(text) ?? [];
  return topic === '' ? undefined : { topic, partition: Number(partition), offset: Number(offset) };
}
