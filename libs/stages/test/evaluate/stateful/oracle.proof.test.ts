import { describe, it } from 'vitest';
import { STATEFUL_LAWS } from './laws.ts';

const CASES = 100_000;

describe('rules with state, at length', () => {
  it.each(STATEFUL_LAWS)('$law: 100,000 times', { timeout: 3_600_000 }, ({ check }) => check(CASES));
});
