import { describe, expect, it } from 'vitest';
import { loadOnce } from './load-once.ts';

describe('loadOnce', () => {
  it('loads at the first call, and once for all calls', async () => {
    let loads = 0;
    const adapter = loadOnce(async () => ({ number: (loads += 1) }));
    expect(loads).toBe(0);
    const [first, second] = await Promise.all([adapter(), adapter()]);
    expect([first.number, second]).toEqual([1, first]);
  });

  it('loads again after a load that failed', async () => {
    let loads = 0;
    const adapter = loadOnce(async () => {
      loads += 1;
      if (loads === 1) throw new Error('no file descriptor left');
      return 'loaded';
    });
    await expect(adapter()).rejects.toThrow('no file descriptor left');
    expect(await adapter()).toBe('loaded');
  });
});
