import { CarillonError } from '@carillon/kernel';

/** A client: its source (see `sourceOf`) and its number of recent wrong passwords. */
export type Asker = { readonly source: string; readonly wrong: number };

export type SignInAdmission = {
  /**
   * Runs work within the concurrency limit. Rejects with `overloaded` without running it if too many requests of the
   * same source wait.
   */
  take<T>(asker: Asker, work: () => Promise<T>): Promise<T>;
};

type Waiter = { readonly came: number; readonly enter: () => void; readonly leave: (error: CarillonError) => void };
/** Waiting requests of a source, with its wrong passwords as of its last request. */
type Line = { wrong: number; readonly waiters: Waiter[] };

/** Every fourth slot goes to the longest waiting request, so that a stream of new sources delays nobody forever. */
const LONGEST_EVERY = 4;

/**
 * Limits concurrent and waiting work. Sources alternate, so that many requests of one source only delay each other.
 * Sources with fewer wrong passwords go first, except for every fourth slot. If the queue is full, the source with most
 * wrong passwords gives up a position to one with fewer; among equals, the source with most waiting requests does. A
 * crowd of guessing sources therefore cannot lock out others.
 */
export function createSignInAdmission(bounds: { readonly atOnce: number; readonly waiting: number }): SignInAdmission {
  let running = 0;
  let waiting = 0;
  let came = 0;
  let given = 0;
  /** In the order of their turns. */
  const sources = new Map<string, Line>();

  const refusal = (): CarillonError =>
    new CarillonError('overloaded', 'too many people are signing in; try again in a few seconds', {
      retryAfter: 5000,
    });

  /** Returns the first source with the lowest measure. */
  function lowest(measure: (line: Line) => number): [string, Line] | undefined {
    let chosen: [string, Line] | undefined;
    for (const source of sources) if (!chosen || measure(source[1]) < measure(chosen[1])) chosen = source;
    return chosen;
  }

  /**
   * Returns the next request: of the source with fewest wrong passwords, or for every fourth slot the longest waiting
   * one.
   */
  function next(): Waiter | undefined {
    if (waiting === 0) return undefined;
    given += 1;
    const chosen = lowest(given % LONGEST_EVERY === 0 ? ({ waiters }) => waiters[0]?.came ?? 0 : ({ wrong }) => wrong);
    if (!chosen) return undefined;
    const [source, line] = chosen;
    const waiter = line.waiters.shift();
    sources.delete(source);
    if (line.waiters.length > 0) sources.set(source, line);
    waiting -= 1;
    return waiter;
  }

  /**
   * Frees a position in the queue. Throws if no source has more wrong passwords, or equally many and more waiting
   * requests.
   */
  function makeRoom({ source, wrong }: Asker): void {
    const own = sources.get(source)?.waiters.length ?? 0;
    const worst = lowest((line) => -line.wrong);
    const longest = lowest(({ waiters }) => -waiters.length);
    const isUnfair = longest !== undefined && longest[1].waiters.length > own + 1 && longest[1].wrong >= wrong;
    const giving = worst && worst[1].wrong > wrong ? worst : isUnfair ? longest : undefined;
    if (!giving) throw refusal();
    const [name, line] = giving;
    waiting -= 1;
    line.waiters.pop()?.leave(refusal());
    if (line.waiters.length === 0) sources.delete(name);
  }

  return {
    async take(asker, work) {
      if (running < bounds.atOnce) running += 1;
      else {
        // The new number also applies to requests of the source that already wait.
        const own = sources.get(asker.source);
        if (own) own.wrong = asker.wrong;
        if (waiting >= bounds.waiting) makeRoom(asker);
        await new Promise<void>((enter, leave) => {
          const line = sources.get(asker.source) ?? { wrong: asker.wrong, waiters: [] };
          line.waiters.push({ came: (came += 1), enter, leave });
          sources.set(asker.source, line);
          waiting += 1;
        });
      }
      try {
        return await work();
      } finally {
        // A waiting request takes over the slot.
        const waiter = next();
        if (waiter) waiter.enter();
        else running -= 1;
      }
    },
  };
}
