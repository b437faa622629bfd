import type { Locality } from '@carillon/kernel';

import { RenderFailure } from './context.ts';
import { LIMITS, SMALL } from './limits.ts';

/**
 * Steps of one operation. Each value shown or tested and each round of a loop is one step; these operations cost more.
 */
export const STEPS = {
  /** A call that formats. */
  format: 10,
  /** Making a formatter, once for each locale and its like: up to half a millisecond, the dearest thing to ask for. */
  newFormatter: 500,
  /** Characters of a value per step. */
  characters: 16,
  /** The name of a host costs the square of its length by this: 4,000 characters of other scripts took 64 ms. */
  hostSquared: 256,
  /** Characters of HTML per step when text is derived from it. */
  htmlCharacters: 4,
} as const;

/** Every so many steps. */
const LOOKS_AT_CLOCK = 16;

/** A render has no steps left. */
export class Exhausted extends Error {
  override readonly name = 'Exhausted';
}

/** Current item of an `each` or `with`. */
export type Frame = { item: unknown; key: unknown; index: unknown; first: unknown; last: unknown };
export const newFrame = (): Frame => ({
  item: undefined,
  key: undefined,
  index: undefined,
  first: undefined,
  last: undefined,
});

/** State of one rendering: position in the data, used budget, missing names. */
export class Run {
  readonly strict: boolean;
  readonly missing = new Set<string>();
  readonly root: unknown;
  /** How dates and numbers look where the template does not say. */
  readonly locality: Locality;
  /** Frames by level. The outermost `each` or `with` has level 0. */
  readonly frames: Frame[] = [];
  /** Name of the part that is being filled in. */
  part = '';
  /** Characters that may come out of it before it is cleaned. */
  most: number = LIMITS.output;
  rounds = 0;
  /** Characters shown in this part. */
  shown = 0;
  /** Whether a value was shown with characters that a body must be cleaned of. */
  unclean = false;
  /** Whether it may not take long, because nobody can stop it. */
  readonly isSmall: boolean;
  /** Characters of this part so far, as they come out. */
  written = 0;
  #steps: number;
  #spent = 0;
  readonly #startedAt: number;
  #cpuAt: NodeJS.CpuUsage | undefined;

  /** `steps`: after so many it ends with `Exhausted`. Without such a bound, its time is. */
  constructor(root: unknown, locality: Locality, strict: boolean, steps: number) {
    this.root = root;
    this.locality = locality;
    this.strict = strict;
    this.#steps = steps;
    this.isSmall = steps !== Infinity;
    this.#startedAt = performance.now();
    this.#cpuAt = steps === Infinity ? process.threadCpuUsage() : undefined;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new Exhausted();
    if (!this.isSmall) return;
    this.#spent += 1;
    if (this.#spent % LOOKS_AT_CLOCK === 0 && this.#hasUsed(SMALL.ms)) throw new Exhausted();
  }

  /**
   * Time of this thread, not of the clock, decides: on a busy machine a render may wait long for its turn. In a small render it
   * counts from the first look after a millisecond: most end before that, and asking the system costs as much as they do.
   */
  #hasUsed(ms: number): boolean {
    const passed = performance.now() - this.#startedAt;
    if (passed < 1) return false;
    this.#cpuAt ??= process.threadCpuUsage();
    if (passed < ms) return false;
    const used = process.threadCpuUsage(this.#cpuAt);
    return (used.user + used.system) / 1000 >= ms;
  }

  /** Looking at a text takes as long as it is. */
  look(value: unknown): void {
    if (typeof value === 'string') this.spend(value.length / STEPS.characters);
  }

  /** Counts characters of the output. A large output needs a thread that can be stopped. */
  write(characters: number): void {
    this.written += characters;
    if (this.isSmall && this.written > SMALL.output) throw new Exhausted();
  }

  /** Time and output multiply in rounds, so there they are counted while they grow. */
  round(): void {
    this.spend(1);
    this.rounds += 1;
    if (this.rounds > LIMITS.rounds)
      throw new RenderFailure(`All {{#each}} together ran more than ${LIMITS.rounds} rounds`);
    if (this.rounds % 16 === 0 && this.#hasUsed(LIMITS.renderMs))
      throw new RenderFailure(tooSlow('rendering', LIMITS.renderMs));
  }
}

export const tooSlow = (what: string, limit: number): string => `Stopped: ${what} took more than ${limit} ms`;

/** `most`: the limit of the part, in characters. */
export const tooLong = (most: number): RenderFailure =>
  new RenderFailure(
    `The result is longer than ${most === LIMITS.output ? `${LIMITS.output / 1024} KB` : `${most} characters`}`,
  );

export function missed(run: Run, label: string): void {
  const name = label === '' ? 'a value' : label;
  if (run.strict) throw new RenderFailure(`${name} is missing, and the template is strict`);
  if (run.missing.size < LIMITS.missing) run.missing.add(name);
}
