import { expect, it } from 'vitest';
import { exploreSlot, PRODUCT, type SlotBounds } from './take-over-model.ts';

const TIMEOUT = 300_000;

/** Declares the test that the product's decisions keep what they promise in every order of events within these bounds. */
export function itHoldsAtOneSlot(bounds: SlotBounds): void {
  const { intents, calls, repeats, mishaps } = bounds;
  const within = `${intents} intents, ${calls} calls, ${repeats} repeats, ${mishaps} mishaps`;
  it(
    `gives at most one acceptance, and each message is sent, was replaced, or is counted once: ${within}`,
    () => {
      const { violation, states, ends } = exploreSlot(PRODUCT, bounds);
      expect(violation).toBeNull();
      expect(states).toBeGreaterThan(4_000);
      // Slots are taken over, and keep their holder: after each, every end is reached.
      const reached = calls > 0 ? ['SENT', 'FAILED', 'EXPIRED', 'IN_DOUBT', 'CANCELLED'] : ['EXPIRED', 'CANCELLED'];
      for (const state of reached) {
        for (const held of [1, 2]) expect(ends).toContain(`${state} after ${held}`);
      }
      if (intents === 3) expect(ends).toContain('EXPIRED after 3');
    },
    TIMEOUT,
  );
}
