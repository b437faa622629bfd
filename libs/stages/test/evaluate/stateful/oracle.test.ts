import { describe, it } from 'vitest';
import { STATEFUL_LAWS } from './laws.ts';

const CASES = 3_500;

describe('rules that count or wait, in random cases', () => {
  it.each(STATEFUL_LAWS)('$law', { timeout: 300_000 }, ({ check }) => check(CASES));
});
