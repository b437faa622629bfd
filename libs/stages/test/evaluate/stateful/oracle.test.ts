import { describe, it } from 'vitest';
import { STATEFUL_LAWS } from './laws.ts';

const CASES = 5_000;

describe('rules with state', () => {
  it.each(STATEFUL_LAWS)('$law', { timeout: 300_000 }, ({ check }) => check(CASES));
});
