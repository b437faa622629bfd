import { describe, expect, it } from 'vitest';
import { readWatermark } from '@carillon/ports';

describe('readWatermark', () => {
  it('reads what the stores write', () => {
    expect(readWatermark(String(1_700_000_000_123))).toBe(1_700_000_000_123);
    expect(readWatermark(String(0))).toBe(0);
  });

  it('takes the highest of the clocks per stream of an earlier release', () => {
    expect(readWatermark('{"shop/orders":1700000000123,"shop/logins":1700000000456}')).toBe(1_700_000_000_456);
    expect(readWatermark('{}')).toBe(0);
  });

  it('is read by an earlier release as no clocks', () => {
    expect(Object.entries(JSON.parse(String(1_700_000_000_123)) as object)).toEqual([]);
  });
});
