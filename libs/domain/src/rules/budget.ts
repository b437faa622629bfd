/**
 * Maximum steps of one rule for one event, over all its expressions and recipients. A step takes about ten nanoseconds.
 */
export const RULE_STEPS = 1_000_000;
/** Maximum steps of one event over all rules of its stream. */
export const EVENT_STEPS = 4_000_000;
/** Steps after which an evaluation offers a pause. */
const STEPS_TO_A_PAUSE = 1_000;

/** Detail of every outcome of a rule that ran out of steps. */
export const STEPS_SPENT = 'too_complex: the expressions of this rule took too many steps on this event';

/**
 * Steps left for evaluations. Steps are counted instead of time, so that an event has the same result on every machine.
 * The budget is exhausted once an evaluation needs more steps than are left. Nothing more is evaluated with an
 * exhausted budget.
 */
export class StepBudget {
  left: number;
  exhausted = false;

  constructor(steps: number = RULE_STEPS) {
    this.left = steps;
  }
}

/** The step budget of an event, from which each rule gets a share. */
export class EventBudget {
  #left = EVENT_STEPS;
  #given = 0;
  #pausedAt = EVENT_STEPS;
  readonly #share = new StepBudget(0);

  /** Returns the share of the next rule. Ends the share of the previous rule and subtracts the steps that it took. */
  nextRule(): StepBudget {
    this.#settle();
    this.#given = Math.min(RULE_STEPS, this.#left);
    this.#share.left = this.#given;
    this.#share.exhausted = false;
    return this.#share;
  }

  isPauseDue(): boolean {
    return this.#pausedAt - this.#left + this.#given - this.#share.left >= STEPS_TO_A_PAUSE;
  }

  /** Returns true if enough steps were taken since the last pause. If so, counts from now on towards the next pause. */
  pauseIsDue(): boolean {
    if (!this.isPauseDue()) return false;
    this.#settle();
    this.#pausedAt = this.#left;
    return true;
  }

  /** Steps taken by all rules so far. */
  get taken(): number {
    this.#settle();
    return EVENT_STEPS - this.#left;
  }

  #settle(): void {
    this.#left -= this.#given - this.#share.left;
    this.#given = this.#share.left;
  }
}
