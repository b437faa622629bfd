import { CarillonError } from '@carillon/kernel';

/** The part of the budget that one request holds. */
export type BodyShare = {
  /** Throws `overloaded` when all requests together would hold too much. */
  take(bytes: number): void;
  /** Gives all of it back; safe to call twice. */
  release(): void;
};

export type BodyBudget = { share(): BodyShare; held(): number };

/** Bounds the bytes of all bodies in memory, counted as they arrive, so that a slow client holds only what it sent. */
export function createBodyBudget(maxBytes: number): BodyBudget {
  let held = 0;
  return {
    held: () => held,
    share() {
      let mine = 0;
      return {
        take(bytes) {
          if (held + bytes > maxBytes) {
            throw new CarillonError(
              'overloaded',
              'The gateway holds as many events as it may. Nothing was appended; send it again.',
            );
          }
          held += bytes;
          mine += bytes;
        },
        release() {
          held -= mine;
          mine = 0;
        },
      };
    },
  };
}
