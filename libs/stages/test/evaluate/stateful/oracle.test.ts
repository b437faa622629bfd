import { describe, it } from 'vitest';
import { STATEFUL_LAWS } from './laws.ts';

const CASES = 1_000;

describe('rules with state', () => {
  it.each(STATEFUL_LAWS)('$law', { timeout: 120_000 }, ({ check }) => check(CASES));
});
