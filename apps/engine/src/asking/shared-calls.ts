import type { LookupIntegration } from '@carillon/domain/configuration';
import { attributionOf, idsOf, MAX_IDS_OF_TRIGGER } from '@carillon/domain/lookups';
import type { Duration, Instant } from '@carillon/kernel';
import type { Lane, Waiting } from '@carillon/runtime';
import type { AskTask } from '@carillon/stages';

/** Maximum wait for further triggers of a shared call. */
const COLLECT: Duration = 50;
/** Maximum triggers per call. Each gets its own record, so this bounds the records per call. */
const MAX_SHARING = 100;

type Picking = {
  readonly integration: LookupIntegration;
  readonly now: Instant;
  /** Number of triggers that may be called alone concurrently. */
  readonly most: number;
  readonly chance: number;
};

/**
 * Picks the triggers of the next call; none while others may still join. Triggers that no longer share calls are picked
 * at random and called alone, at most `most` concurrently. If `most` is 0, the partner refuses everything: these
 * triggers are called together, but never with one that was not refused yet.
 */
export function pickCall(
  waiting: readonly Waiting<AskTask>[],
  lane: Pick<Lane<AskTask>, 'underWay'>,
  { integration, now, most, chance }: Picking,
): readonly Waiting<AskTask>[] {
  const isSomeAlone = waiting.some(isAlone);
  const alone = isSomeAlone ? waiting.filter(isAlone) : [];
  const drawn = isSomeAlone && askedAlone(lane) < most ? alone[Math.floor(chance * alone.length)] : undefined;
  if (drawn) return [drawn];
  const [oldest] = waiting;
  const together = most === 0 && oldest !== undefined && isAlone(oldest);
  const some = together ? alone : isSomeAlone ? waiting.filter((task) => !isAlone(task)) : waiting;
  const shares = attributionOf(integration).kind !== 'none';
  let count = 0;
  let ids = 0;
  for (const { work } of some) {
    const own = work.asking.trigger?.userIds.length ?? 0;
    if (count > 0 && (!shares || count >= MAX_SHARING || ids + own > MAX_IDS_OF_TRIGGER)) break;
    count += 1;
    ids += own;
  }
  const [first] = some;
  const whole = !shares || count < some.length || count >= MAX_SHARING;
  return first && (whole || now - first.since >= COLLECT) ? some.slice(0, count) : [];
}

const isAlone = ({ work }: Waiting<AskTask>): boolean => work.asking.alone;

/** Returns the number of running calls with a trigger that no longer shares. */
const askedAlone = ({ underWay }: Pick<Lane<AskTask>, 'underWay'>): number =>
  [...underWay].filter(([first, second]) => first?.asking.alone === true && second === undefined).length;

/** Returns the distinct user ids of a shared call. */
export const idsOfCall = (shared: readonly AskTask[]): readonly string[] =>
  idsOf(shared.map(({ asking }) => asking.trigger?.userIds ?? []));
