import { describe } from 'vitest';
import { itKeepsTheLimit } from './limits-laws.ts';
import type { LimitBounds } from './limits-model.ts';

const BOUNDS: readonly LimitBounds[] = [
  { tokens: 3, crashes: 0, cancels: 0, others: 0 },
  { tokens: 3, crashes: 1, cancels: 0, others: 0 },
  { tokens: 2, crashes: 1, cancels: 1, others: 0 },
  { tokens: 3, crashes: 0, cancels: 0, others: 1 },
];

describe('a model of two workers under a limit of one message per person, in every order of steps', () => {
  for (const bounds of BOUNDS) itKeepsTheLimit(bounds);
});
