import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError, type Duration } from '@carillon/kernel';
import { failureOf, isTransient } from './failures.ts';

/**
 * Runs an operation, and again while it fails in a way that may pass, until patience ends. `again` is true once an
 * earlier try may have happened after all. Rejects with CarillonError `store_unavailable`.
 */
export type Attempt = <Answer>(operation: (again: boolean) => Promise<Answer>) => Promise<Answer>;

export type Attempts = { readonly attempt: Attempt; readonly end: () => void };

const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 500;

export function createAttempts(patience: Duration): Attempts {
  let ended = false;
  return {
    async attempt(operation) {
      const begun = performance.now();
      for (let tries = 0; ; tries += 1) {
        // The driver would connect again by itself.
        if (ended) throw new CarillonError('store_unavailable', 'the connection to the database was closed');
        try {
          return await operation(tries > 0);
        } catch (error) {
          if (!isTransient(error) || performance.now() - begun >= patience) throw failureOf(error);
        }
        await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries) * (0.5 + Math.random() / 2));
      }
    },
    end() {
      ended = true;
    },
  };
}
