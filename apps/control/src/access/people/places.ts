import { CarillonError } from '@carillon/kernel';

/** Who asks: a source, as `sourceOf` has it, and how many wrong words came from there lately. */
export type Asker = { readonly source: string; readonly wrong: number };

export type Places = {
  /** Runs work in a place of its own. Rejects with `overloaded`, without a look at the work, where too many of the same source wait. */
  take<T>(asker: Asker, work: () => Promise<T>): Promise<T>;
};

type Waiter = { readonly wrong: number; readonly enter: () => void; readonly leave: (error: CarillonError) => void };

/**
 * So many at once, and so many that wait. Sources take turns: whoever sends many waits behind their own, and where all waits are taken, the
 * source that has the most gives one to a source that has fewer. Whoever guessed wrong less comes before whoever guessed wrong more, and takes
 * their wait where all are taken: a crowd of sources that guess, one word each, keeps nobody out who has not guessed as they have.
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

  const firstOf = (line: readonly Waiter[]): number => line[0]?.wrong ?? 0;

  /** Of those who guessed wrong least, the one whose turn it is. */
  function next(): Waiter | undefined {
    let chosen: [string, Waiter[]] | undefined;
    for (const one of sources) if (!chosen || firstOf(one[1]) < firstOf(chosen[1])) chosen = one;
    if (!chosen) return undefined;
    const [source, line] = chosen;
    const waiter = line.shift();
    sources.delete(source);
    if (line.length > 0) sources.set(source, line);
    waiting -= 1;
    return waiter;
  }

  /** Throws where nobody has more waits than this source, or guessed wrong more. */
  function makeRoom({ source, wrong }: Asker): void {
    const own = sources.get(source)?.length ?? 0;
    const lines = [...sources];
    const [longest] = lines.toSorted(([, a], [, b]) => b.length - a.length);
    const [worst] = lines.toSorted(([, a], [, b]) => firstOf(b) - firstOf(a));
    const isUnfair = longest !== undefined && longest[1].length > own + 1;
    const giving = isUnfair ? longest : worst && firstOf(worst[1]) > wrong ? worst : undefined;
    if (!giving) throw refusal();
    const [name, line] = giving;
    waiting -= 1;
    line.pop()?.leave(refusal());
    if (line.length === 0) sources.delete(name);
  }

  return {
    async take(asker, work) {
      if (running < bounds.atOnce) running += 1;
      else {
        if (waiting >= bounds.waiting) makeRoom(asker);
        await new Promise<void>((enter, leave) => {
          const line = sources.get(asker.source) ?? [];
          line.push({ wrong: asker.wrong, enter, leave });
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
