import { CarillonError } from '@carillon/kernel';

/** The part of the budget that one request holds. */
export type BodyShare = {
  /** Throws `overloaded` when all requests together would hold too much. */
  take(bytes: number): void;
  /** Gives all of it back; safe to call twice. */
  release(): void;
};

export type BodyBudget = {
  /** Throws `overloaded` when as many requests are under way as may be. */
  share(): BodyShare;
  held(): number;
};

export type BodyBounds = { readonly maxInFlightBytes: number; readonly maxInFlightRequests: number };

/**
 * Bounds the requests under way and the bytes of all their bodies, counted as they arrive, so that a slow client holds
 * only what it sent. Small bodies would take seconds to fill the bytes, and who waits so long is not helped by a 202.
 */
export function createBodyBudget({ maxInFlightBytes, maxInFlightRequests }: BodyBounds): BodyBudget {
  let held = 0;
  let requests = 0;
  return {
    held: () => held,
    share() {
      if (requests >= maxInFlightRequests) throw OVERLOADED;
      requests += 1;
      let mine = 0;
      let released = false;
      return {
        take(bytes) {
          if (held + bytes > maxInFlightBytes) throw OVERLOADED;
          held += bytes;
          mine += bytes;
        },
        release() {
          if (released) return;
          released = true;
          requests -= 1;
          held -= mine;
        },
      };
    },
  };
}

/** One for all: under a flood the stack of each took longer than all else that refusing does of its own. */
const OVERLOADED = new CarillonError(
  'overloaded',
  'The gateway holds as many events as it may. Nothing was appended; send it again.',
);
