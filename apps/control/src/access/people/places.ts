import { CarillonError } from '@carillon/kernel';

export type Places = {
  /** Runs work in a place of its own. Rejects with `overloaded`, without a look at the work, where too many of the same source wait. */
  take<T>(source: string, work: () => Promise<T>): Promise<T>;
};

type Waiter = { readonly enter: () => void; readonly leave: (error: CarillonError) => void };

/**
 * So many at once, and so many that wait. Sources take turns: whoever sends many waits behind their own, and where all waits are taken, the
 * source that has the most gives one to a source that has fewer.
 */
export function createPlaces(bounds: { readonly atOnce: number; readonly waiting: number }): Places {
  let running = 0;
  let waiting = 0;
  /** In the order of their turns. */
  const sources = new Map<string, Waiter[]>();

  const refusal = (): CarillonError =>
    new CarillonError('overloaded', 'too many people sign in at this moment; try again in a few seconds', {
      retryAfter: 5000,
    });

  function next(): Waiter | undefined {
    for (const [source, line] of sources) {
      const waiter = line.shift();
      sources.delete(source);
      if (line.length > 0) sources.set(source, line);
      if (!waiter) continue;
      waiting -= 1;
      return waiter;
    }
    return undefined;
  }

  /** Throws where nobody has more waits than this source. */
  function makeRoom(source: string): void {
    const own = sources.get(source)?.length ?? 0;
    let most: Waiter[] = [];
    for (const line of sources.values()) if (line.length > most.length) most = line;
    if (most.length <= own + 1) throw refusal();
    waiting -= 1;
    most.pop()?.leave(refusal());
  }

  return {
    async take(source, work) {
      if (running < bounds.atOnce) running += 1;
      else {
        if (waiting >= bounds.waiting) makeRoom(source);
        await new Promise<void>((enter, leave) => {
          const line = sources.get(source) ?? [];
          line.push({ enter, leave });
          sources.set(source, line);
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
