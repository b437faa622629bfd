import type { RuleMemory } from '@carillon/domain/rules';
import type { BookRule, RuleBook } from '@carillon/stages';

/** Fires at each third event of an entity for which `when` holds. */
const THIRD: RuleMemory = {
  step(before, _event, holds) {
    const count = Number(before ?? 0) + (holds ? 1 : 0);
    return { after: String(count % 3), fires: holds && count === 3, saw: { count } };
  },
};
const withMemory = (entry: BookRule): BookRule =>
  entry.ok ? { ...entry, rule: { ...entry.rule, memory: THIRD } } : entry;

/** The book whose rules keep state: each fires at every third event of an entity for which its `when` holds. */
export const countingRules = (book: RuleBook): RuleBook => ({
  ...book,
  rulesOf: (configuration, path) => book.rulesOf(configuration, path).map(withMemory),
});
