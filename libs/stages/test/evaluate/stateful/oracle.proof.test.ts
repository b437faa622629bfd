import { describe, it } from 'vitest';
import { STATEFUL_LAWS } from './laws.ts';

const CASES = 100_000;

describe('rules that count or wait, in random cases (long)', () => {
  it.each(STATEFUL_LAWS)('$law: 100,000 times', { timeout: 3_600_000 }, ({ check }) => check(CASES));
});
