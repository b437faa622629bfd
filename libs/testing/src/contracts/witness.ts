/**
 * Keeps what happened in the order in which it did, and lets a test wait until it has seen enough: no sleeping for luck,
 * and a wait that was in vain says what was seen instead.
 */
export type Witness<Seen> = {
  readonly seen: readonly Seen[];
  saw(event: Seen): void;
  /** Resolves as soon as the condition holds for what was seen so far. */
  until(what: string, condition: (seen: readonly Seen[]) => boolean): Promise<void>;
};

const TIMEOUT_MS = 100_000;

export function createWitness<Seen>(): Witness<Seen> {
  const seen: Seen[] = [];
  const waiting = new Set<() => void>();
  return {
    seen,
    saw(event) {
      seen.push(event);
      for (const look of waiting) look();
    },
    until(what, condition) {
      return new Promise((resolve, reject) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(look);
        };
        const look = (): void => {
          if (!condition(seen)) return;
          done();
          resolve();
        };
        const timer = setTimeout(() => {
          done();
          reject(new Error(`waited in vain until ${what}; seen: ${JSON.stringify(seen)}`));
        }, TIMEOUT_MS);
        waiting.add(look);
        look();
      });
    },
  };
}

/** A promise that a test keeps open until it says so. */
export type Gate = { readonly opened: Promise<void>; open(): void };
export function createGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
