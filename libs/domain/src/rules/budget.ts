/** Steps of one rule on one event, over all its expressions and recipients. A step is about ten nanoseconds. */
export const RULE_STEPS = 1_000_000;
/** Steps of one event over all rules that judge it. */
export const EVENT_STEPS = 4_000_000;
/** Steps after which an evaluation in parts offers a pause. */
const STEPS_TO_A_PAUSE = 1_000;

/** What every outcome says whose steps are spent. */
export const STEPS_SPENT = 'too_complex: the expressions of this rule took too many steps on this event';

/**
 * Steps that evaluations may still take. Steps are counted and not timed, so that the same event comes to the same end on
 * every machine. Once an evaluation asked for more than is left, the budget is exhausted: nothing more is evaluated on it.
 */
export class StepBudget {
  left: number;
  exhausted = false;

  constructor(steps: number = RULE_STEPS) {
    this.left = steps;
  }
}

/** The budget of an event, handed out rule by rule. */
export class EventBudget {
  #left = EVENT_STEPS;
  #given = 0;
  #pausedAt = EVENT_STEPS;
  readonly #share = new StepBudget(0);

  /** The share of the next rule. The share handed out before is closed by this: its steps are taken off. */
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

  /** Whether enough was evaluated since the last pause for the next one, which is then taken as begun. */
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
