import type { LookupIntegration } from '@carillon/domain/configuration';
import { attributionOf, idsOf, MAX_IDS_OF_TRIGGER } from '@carillon/domain/lookups';
import type { Duration, Instant } from '@carillon/kernel';
import type { Lane, Waiting } from '@carillon/runtime';
import type { AskTask } from '@carillon/stages';

/** Triggers that are collected for one call wait at most this long for each other. */
const COLLECT: Duration = 50;
/** Each has a record of its own in the end, so that one call cannot become a flood. */
const MAX_SHARING = 100;

type Picking = {
  readonly integration: LookupIntegration;
  readonly now: Instant;
  /** Triggers that may be asked alone at a time, of those that have to be. */
  readonly most: number;
  readonly chance: number;
};

/**
 * The triggers of the next call; none while others may still join them. Those that share no call any more are drawn by
 * chance and asked alone, `most` at a time. Where `most` is 0 the partner refuses everybody: they are asked together, but
 * never with a trigger of which no call was refused yet.
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
  const some = together ? alone : isSomeAlone ? waiting.filter((one) => !isAlone(one)) : waiting;
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

/** Calls under way of one trigger that shares none any more. */
const askedAlone = ({ underWay }: Pick<Lane<AskTask>, 'underWay'>): number =>
  [...underWay].filter(([first, second]) => first?.asking.alone === true && second === undefined).length;

/** The ids of a shared call, each once. */
export const idsOfCall = (shared: readonly AskTask[]): readonly string[] =>
  idsOf(shared.map(({ asking }) => asking.trigger?.userIds ?? []));
