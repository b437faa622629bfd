import type { LookupProblemKind, OwnAnswer } from '@carillon/domain/lookups';
import type { Dropped, RuleOutcome } from '@carillon/domain/rules';
import type { DropCount } from '@carillon/ports';

type Named = Pick<DropCount, 'workspace' | 'rule'>;

/** Problems of a partner's answer that drop a recipient. */
const LEFT_OUT: Readonly<Partial<Record<LookupProblemKind, string>>> = {
  invalid: 'invalid_item',
  invalid_address: 'invalid_address',
  too_many: 'too_many_recipients',
};

/**
 * Returns the drops of one event by a rule. A rule that fails counts as one drop, because the number of its recipients
 * is unknown.
 */
export function dropsOfOutcome(named: Named, outcome: RuleOutcome): readonly DropCount[] {
  if (outcome.kind === 'failed') return [{ ...named, reason: outcome.reason, count: 1 }];
  if (outcome.kind !== 'fired' && outcome.kind !== 'asks') return [];
  return outcome.dropped.map(({ reason, count }) => ({ ...named, reason, count }));
}

/** Returns the drops of a partner's answer, by its problems and by the rule. */
export const dropsOfAnswer = (
  named: Named,
  problems: OwnAnswer['problemCounts'],
  dropped: readonly Dropped[],
): readonly DropCount[] => [
  ...Object.entries(LEFT_OUT).flatMap(([kind, reason]) => {
    const count = problems[kind as LookupProblemKind] ?? 0;
    return count === 0 ? [] : [{ ...named, reason, count }];
  }),
  ...dropped.map(({ reason, count }) => ({ ...named, reason, count })),
];

/** One line for each rule and reason. */
export function sumDrops(drops: readonly DropCount[]): readonly DropCount[] {
  const sums = Map.groupBy(drops, ({ workspace, rule, reason }) => [workspace, rule, reason].join('\n'));
  return [...sums.values()].flatMap(([first, ...more]) =>
    first ? [{ ...first, count: more.reduce((sum, { count }) => sum + count, first.count) }] : [],
  );
}
