import { providerResult } from '../../src/deliveries/index.ts';
import { describe, expect, it } from 'vitest';

describe('the result code of a provider call', () => {
  it.each([
    ['of 64 characters stays as it is', 'x'.repeat(64), 'x'.repeat(64)],
    ['of 200,000 is cut', 'x'.repeat(200_000), 'x'.repeat(64)],
    ['that is cut within a character stays text', `${'x'.repeat(63)}🔔`, `${'x'.repeat(63)}\uFFFD`],
  ])('%s', (_, said, kept) => {
    expect(providerResult('transient', said, '').code).toBe(kept);
  });
});
