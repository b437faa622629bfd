import type { CompiledForm } from '@carillon/domain/rules';
import type { BookRule, RuleBook } from '@carillon/stages';

/** Fires at each third event of an entity for which `when` holds. */
const THIRD: CompiledForm = {
  name: 'third',
  expressions: [],
  step(kept, occasion, effect) {
    const count = Number(kept ?? 0) + (occasion.kind === 'event' && occasion.holds === true ? 1 : 0);
    const fires = effect.fires && count === 3;
    return { kept: count % 3, effect: { ...effect, fires }, decision: { count } };
  },
};
const withMemory = (entry: BookRule): BookRule =>
  entry.ok ? { ...entry, rule: { ...entry.rule, memory: { forms: [THIRD], readsPrevious: false } } } : entry;

/** The book whose rules keep state: each fires at every third event of an entity for which its `when` holds. */
export const countingRules = (book: RuleBook): RuleBook => ({
  ...book,
  rulesOf: (configuration, path) => book.rulesOf(configuration, path).map(withMemory),
});
