import { setImmediate as afterMicrotasks } from 'node:timers';
import type { Duration, Instant } from '@carillon/kernel';
import { createChance } from '../harness/chance.ts';

/** Something that will happen in a process, or outside of all. */
export type Step = {
  /** Not before this. */
  at: Instant;
  /** Null: at the other end of a wire, or nowhere. It happens whatever becomes of any process. */
  readonly owner: Process | null;
  readonly what: string | (() => string);
  readonly run: () => void;
};

/** A process as the scheduler sees it. One that is dead does nothing any more: its steps are gone, its promises stay open. */
export type Process = {
  readonly name: string;
  alive: boolean;
  /** Stopped, and not dead: none of its steps comes before this. */
  frozenUntil: Instant;
};

const TIMER = 'a timer runs out';

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * One thing after another, in an order that the seed decides, in a time that passes only when nothing is left to do at
 * once. Promises of product code are resolved by steps alone, and all that follows from one has happened before the next.
 */
export function createScheduler(seed: number, start: Instant, keepsHistory: boolean) {
  const chance = createChance(seed);
  const history: string[] = [];
  let steps: Step[] = [];
  let now = start;
  let taken = 0;
  let current: Process | null = null;

  const runnableAt = ({ at, owner }: Step): Instant => Math.max(at, owner?.frozenUntil ?? 0);

  /** One of those that can run now, each with the same chance; time goes on where there is none. */
  function next(): Step | undefined {
    let earliest = Number.POSITIVE_INFINITY;
    let runnable = 0;
    for (const step of steps) {
      const at = runnableAt(step);
      if (at <= now) runnable += 1;
      else if (at < earliest) earliest = at;
    }
    if (runnable === 0) {
      if (!Number.isFinite(earliest)) return undefined;
      now = earliest;
      for (const step of steps) if (runnableAt(step) <= now) runnable += 1;
    }
    let skip = Math.floor(chance() * runnable);
    const at = steps.findIndex((step) => runnableAt(step) <= now && skip-- === 0);
    const [step] = steps.splice(at, 1);
    return step;
  }

  const scheduler = {
    chance,
    history: history as readonly string[],
    now: (): Instant => now,
    taken: (): number => taken,
    /** The process whose step this is. */
    current: (): Process | null => current,
    /** A name that nobody else has. */
    name: (): string => Array.from({ length: 3 }, () => Math.floor(chance() * 2 ** 32).toString(32)).join(''),
    /** A whole number from `least` to `most`. */
    between: (least: number, most: number): number => least + Math.floor(chance() * (most - least + 1)),
    add: (delay: Duration, owner: Process | null, what: Step['what'], run: () => void): Step => {
      const step = { at: now + Math.max(0, delay), owner, what, run };
      steps.push(step);
      return step;
    },
    remove(step: Step): void {
      const at = steps.indexOf(step);
      if (at >= 0) steps.splice(at, 1);
    },
    /** What was to happen in this process never happens. */
    forget(process: Process): void {
      steps = steps.filter(({ owner }) => owner !== process);
    },
    /** Nothing that is under way takes longer than this from now on. */
    hurry(atMost: Duration): void {
      for (const step of steps) {
        if (step.what !== TIMER) step.at = Math.min(step.at, now + Math.ceil(chance() * atMost));
      }
    },
    note(what: string | (() => string)): void {
      if (keepsHistory) history.push(`${shownTime(now - start)} ${typeof what === 'string' ? what : what()}`);
    },
    /** Takes one step and everything that follows from it by itself. False: nothing is left to do. */
    async take(): Promise<boolean> {
      const step = next();
      if (!step) return false;
      taken += 1;
      scheduler.note(() => {
        const what = typeof step.what === 'string' ? step.what : step.what();
        return `${step.owner ? `${step.owner.name} ` : '· '}${what}`;
      });
      current = step.owner;
      step.run();
      await new Promise((resolve) => afterMicrotasks(resolve));
      current = null;
      return true;
    },
  };
  return scheduler;
}

const shownTime = (span: Duration): string => `${(span / 1000).toFixed(3).padStart(8)}s`;

/**
 * Until the answer is called, timers of whatever code runs are steps of the process that set them, in the time of the
 * scheduler. The product has no seam for that, and needs none.
 */
export function takeTimersOver(scheduler: Scheduler): () => void {
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis;
  const set = (run: (...values: unknown[]) => void, span = 0, ...values: unknown[]): Step => {
    const owner = scheduler.current();
    if (owner && !owner.alive) return { at: 0, owner, what: '', run: () => undefined };
    return scheduler.add(Math.max(1, span), owner, TIMER, () => run(...values));
  };
  const clear = (step: unknown): void => {
    if (step) scheduler.remove(step as Step);
  };
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  return () => void Object.assign(globalThis, { setTimeout: realSet, clearTimeout: realClear });
}
