import { describe, expect, it } from 'vitest';
import { createPace } from './pace.ts';

/** A log whose end grows by `growth` records with each look. */
function growing(growth: number) {
  let end = 0;
  return {
    partitions: () => 1,
    async bounds() {
      end += growth;
      return { start: 0, end };
    },
  };
}

describe('The pace of a run', () => {
  it('returns to the event loop after each page', async () => {
    const pace = createPace(growing(0));
    let hasTurned = false;
    setImmediate(() => (hasTurned = true));
    await pace.afterPage(performance.now());
    expect(hasTurned).toBe(true);
  });

  it('pauses as long as the last page took while events arrive', async () => {
    const [busy, idle] = [createPace(growing(10_000), 0), createPace(growing(0), 0)];
    const waited = async (pace: ReturnType<typeof createPace>, pageMs: number): Promise<number> => {
      await pace.afterPage(performance.now());
      const now = performance.now();
      await pace.afterPage(now - pageMs);
      return performance.now() - now;
    };
    expect(await waited(busy, 60)).toBeGreaterThan(50);
    expect(await waited(idle, 20_000)).toBeLessThan(20_000);
  });
});
