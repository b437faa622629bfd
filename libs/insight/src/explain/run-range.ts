import type { RunBase } from '@carillon/domain/runs';
import { formatInstant } from '@carillon/kernel';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Returns a count with its noun, such as `2 events`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  count === 1 ? `1 ${noun}` : `${count} ${plural}`;

/** Returns the time range of a run as the start of a sentence. */
export function rangeText({ from, to, createdAt }: Pick<RunBase, 'from' | 'to' | 'createdAt'>): string {
  const length = to - from;
  const [unit, name] = length % DAY === 0 ? [DAY, 'day'] : [HOUR, 'hour'];
  if (to !== createdAt || length <= 0 || length % unit !== 0) {
    return `From ${formatInstant(from)} to ${formatInstant(to)}`;
  }
  const count = length / unit;
  return `Over the last ${count === 1 ? name : `${count} ${name}s`}`;
}
