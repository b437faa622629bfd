import { describe, it } from 'vitest';
import { FORM_LAWS } from './form-laws.ts';

const MANY = 100_000;

describe('the visual form and the text of an expression (long)', () => {
  it.each(FORM_LAWS)('$law: 100,000 times', { timeout: 3_600_000 }, ({ check }) => check(MANY));
});
