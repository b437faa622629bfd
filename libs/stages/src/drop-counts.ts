import type { LookupProblemKind, OwnAnswer } from '@carillon/domain/lookups';
import type { Dropped, RuleOutcome } from '@carillon/domain/rules';
import type { DropCount } from '@carillon/ports';

type Named = Pick<DropCount, 'workspace' | 'rule'>;

/** Problems of a partner's answer that leave somebody out who was to be told. */
const LEFT_OUT: Readonly<Partial<Record<LookupProblemKind, string>>> = {
  invalid: 'invalid_item',
  invalid_address: 'invalid_address',
  too_many: 'too_many_recipients',
};

/** What a rule dropped of one event. A rule that fails tells nobody, and nobody can say how many that would have been: it counts for one. */
export function dropsOfOutcome(named: Named, outcome: RuleOutcome): readonly DropCount[] {
  if (outcome.kind === 'failed') return [{ ...named, reason: outcome.reason, count: 1 }];
  if (outcome.kind !== 'fired' && outcome.kind !== 'asks') return [];
  return outcome.dropped.map(({ reason, count }) => ({ ...named, reason, count }));
}

/** What was left out of one answer of a partner, by its problems and by the rule. */
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
