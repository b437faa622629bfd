import { CarillonError } from '@carillon/kernel';

/** Who asks: a source, as `sourceOf` has it, and how many wrong words came from there lately. */
export type Asker = { readonly source: string; readonly wrong: number };

export type Places = {
  /** Runs work in a place of its own. Rejects with `overloaded`, without a look at the work, where too many of the same source wait. */
  take<T>(asker: Asker, work: () => Promise<T>): Promise<T>;
};

type Waiter = { readonly came: number; readonly enter: () => void; readonly leave: (error: CarillonError) => void };
/** Who waits of one source, and how many wrong words came from there when it asked last. */
type Line = { wrong: number; readonly waiters: Waiter[] };

/** Every so many places one goes to whoever waits longest: fresh sources, however many come, keep nobody waiting for ever. */
const LONGEST_EVERY = 4;

/**
 * So many at once, and so many that wait. Sources take turns: whoever sends many waits behind their own. Whoever guessed wrong less comes before
 * whoever guessed wrong more, but for one place in four. Where all waits are taken, the source that guessed wrong most gives one up to whoever
 * guessed less: a crowd of sources that guess, one word each, keeps nobody out who has not guessed as they have. Among those who guessed alike the
 * source that has the most gives one to a source that has fewer.
 */
export function createPlaces(bounds: { readonly atOnce: number; readonly waiting: number }): Places {
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

  /** The first that is lowest by a measure. */
  function lowest(measure: (line: Line) => number): [string, Line] | undefined {
    let chosen: [string, Line] | undefined;
    for (const one of sources) if (!chosen || measure(one[1]) < measure(chosen[1])) chosen = one;
    return chosen;
  }

  /** Whoever has the turn among those who guessed wrong least; for one place in four, whoever waits longest. */
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

  /** Throws where nobody guessed wrong more than this source, or has more waits and guessed no less. */
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
        // What was guessed since counts for those of the source who wait already, also where no more of them come to wait.
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
        // Whoever waits takes over the place.
        const waiter = next();
        if (waiter) waiter.enter();
        else running -= 1;
      }
    },
  };
}
