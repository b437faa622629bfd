import { expect, it } from 'vitest';
import { explore, PRODUCT, type Bounds } from './model.ts';

/** They need seconds of a processor that others may have. */
const TIMEOUT = 300_000;

/** Declares the test that the product's decisions keep what they promise in every interleaving within these bounds. */
export function itHoldsWithin(bounds: Bounds): void {
  const { calls, crashes, lost, waivers } = bounds;
  const within = `${calls} calls, ${crashes} crashes, ${lost} lost answers, ${waivers} waivers`;
  it(
    `is accepted at most once per permitted resend, never gets stuck and never shows a false state: ${within}`,
    () => {
      const { violation, states, ends } = explore(PRODUCT, bounds);
      expect(violation).toBeNull();
      expect(states).toBeGreaterThan(crashes + lost + waivers > 1 ? 5000 : 500);
      expect(ends).toEqual(new Set(['SENT', 'FAILED', 'IN_DOUBT', ...(waivers > 0 ? ['WAITING'] : [])]));
    },
    TIMEOUT,
  );
}
