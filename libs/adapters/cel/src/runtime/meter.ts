import { CelError } from './values.ts';

/** A step is about one node evaluated, or 32 characters or 8 elements handled. */
export const STEP_BUDGET = 500_000;
/** Longest text and longest list that an expression may make. */
export const MAX_TEXT = 262_144;
export const MAX_LIST = 50_000;

export const TOO_COMPLEX = new CelError('too_complex: the expression took too many steps on this event');

/**
 * Counts the work of one evaluation, so that every one ends soon whatever the event holds. Once spent it stays spent:
 * an `||` may absorb the error value but the evaluation as a whole is then still refused.
 */
export class Meter {
  left: number = STEP_BUDGET;

  reset(times = 1): void {
    this.left = STEP_BUDGET * times;
  }

  /** Takes steps; false when there are none left. */
  spend(steps: number): boolean {
    this.left -= steps;
    return this.left >= 0;
  }

  /** Whether text or a list of this length may be made or walked. */
  admits(length: number, perStep: number, limit: number): boolean {
    if (length > limit) this.left = -1;
    return this.spend(1 + length / perStep);
  }

  text(length: number): boolean {
    return this.admits(length, 32, MAX_TEXT);
  }

  list(length: number): boolean {
    return this.admits(length, 8, MAX_LIST);
  }
}
