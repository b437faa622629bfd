import { expect, it } from 'vitest';
import { exploreLimits, PRODUCT, type LimitBounds } from './limits-model.ts';

const TIMEOUT = 900_000;

/** Declares the test that the product's decisions keep a limit in every order of steps within these bounds. */
export function itKeepsTheLimit(bounds: LimitBounds): void {
  const { tokens, crashes, cancels, others } = bounds;
  const within = `${tokens} places, ${crashes} crashes, ${cancels} cancelled, ${others} taken over`;
  it(
    `sends never more than the limit, and drops no message because of one that was not sent: ${within}`,
    () => {
      const { violation, ends } = exploreLimits(PRODUCT, bounds);
      expect(violation).toBeNull();
      for (const end of ['SENT and SUPPRESSED', 'IN_DOUBT and SUPPRESSED', 'FAILED and SENT'])
        expect(ends).toContain(end);
    },
    TIMEOUT,
  );
}
