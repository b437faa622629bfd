import { leavingLetters } from '@carillon/domain/events';
import type { Instant } from '@carillon/kernel';
import type { DeadLetterFilter } from '@carillon/ports';
import type { ControlPorts } from './ports.ts';

/** The count of leaving letters stops here, and people then read *at least*. */
const MAX_LEAVING = 500;
/** The date of the first removal is found to this precision. */
const HOUR = 3_600_000;

export type LeavingPorts = Pick<ControlPorts, 'readModels' | 'clock' | 'deadLettersKept'>;

/** Open dead letters that Kafka removes within seven days, and from when. After that they cannot be redriven. Null if there are none. */
export async function countLeavingLetters(
  filter: Pick<DeadLetterFilter, 'workspace' | 'ofReceipts'>,
  { readModels, clock, deadLettersKept }: LeavingPorts,
): Promise<{ readonly count: number; readonly from: Instant } | null> {
  const kept = deadLettersKept();
  const range = leavingLetters(kept, clock.now());
  if (kept === null || range === null) return null;
  const lettersIn = async (since: Instant, before: Instant, limit: number) =>
    (await readModels.deadLetters({ ...filter, open: true, since, before }, limit)).items;
  const newest = await lettersIn(range.since, range.before, MAX_LEAVING);
  if (newest.length === 0) return null;
  let oldest = Math.min(...newest.map(({ at }) => at));
  // Letters are read newest first. A count that stopped has not met the oldest.
  let { since } = range;
  while (newest.length === MAX_LEAVING && oldest - since > HOUR) {
    const middle = Math.floor((since + oldest) / 2);
    const [older] = await lettersIn(since, middle, 1);
    if (older) oldest = older.at;
    else since = middle;
  }
  return { count: newest.length, from: oldest + kept };
}
