import type { Instant } from '@carillon/kernel';
import type { EventHistory } from '@carillon/ports';
import { offsetAt } from '@carillon/stages';
import type { Gap } from './gaps.ts';

const TOPIC = 'carillon.events';

export type WarmUp = {
  /** Offset of the first record that is read for the states at the start of a range. */
  readonly warmUp: number;
  /** Records before it. Null: it is the first record of the partition. */
  readonly gap: Gap | null;
};

/** Returns from where a partition is read for the states at offset `first`. `since`: time from which records count. */
export async function warmUpOf(
  history: Pick<EventHistory, 'read' | 'bounds'>,
  { partition, first, since }: { readonly partition: number; readonly first: number; readonly since: Instant },
): Promise<WarmUp> {
  const { start } = await history.bounds(TOPIC, partition);
  const warmUp = Math.min(first, await offsetAt(history, TOPIC, partition, since));
  if (warmUp === 0) return { warmUp, gap: null };
  // Retention may have removed records after `since`.
  const [oldest] = warmUp > start ? [] : await history.read(TOPIC, partition, warmUp, 1);
  return { warmUp, gap: { offset: warmUp - 1, time: Math.max(since, oldest?.time ?? since) } };
}
