import { RULE_STEPS, type StepBudget } from '@carillon/domain/rules';
import { LIST_ELEMENT, TEXT_READ } from './prices.ts';
import { CelError } from './values.ts';

/** Longest text and longest list that an expression may make. */
export const MAX_TEXT = 262_144;
export const MAX_LIST = 50_000;

export const TOO_COMPLEX = new CelError('too_complex: the expression took too many steps on this event');

/**
 * Counts the work of one evaluation on the budget of its rule and event. Once a step is refused all others are too: an `||`
 * may absorb the error value but the evaluation as a whole is then still refused.
 */
export class Meter {
  left = RULE_STEPS;
  /** What was left when a step was refused. */
  #aside = 0;
  /** Whether it was refused because there were too few. */
  #spent = false;

  /** Begins an evaluation. */
  open(budget: StepBudget): void {
    this.left = budget.exhausted ? -1 : budget.left;
  }

  /** Ends it: the steps are taken off the budget. */
  close(budget: StepBudget): void {
    if (this.left >= 0) budget.left = this.left;
    else if (!budget.exhausted) {
      budget.left = this.#aside;
      budget.exhausted = this.#spent;
    }
    this.#spent = false;
  }

  /** Takes steps; false when there are fewer left. */
  spend(steps: number): boolean {
    if (steps <= this.left) {
      this.left -= steps;
      return true;
    }
    if (this.left >= 0) this.#spent = true;
    return this.refuse();
  }

  /** Refuses this evaluation whatever is left; the rule's others may go on. */
  refuse(): false {
    if (this.left >= 0) this.#aside = this.left;
    this.left = -1;
    return false;
  }

  /** Whether a text of this length may be made or read. */
  text(length: number): boolean {
    return length > MAX_TEXT ? this.refuse() : this.spend(1 + length * TEXT_READ);
  }

  /** Whether a list of this length may be made or walked. */
  list(length: number): boolean {
    return length > MAX_LIST ? this.refuse() : this.spend(1 + length * LIST_ELEMENT);
  }
}
