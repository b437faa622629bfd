import { describe } from 'vitest';
import { itHoldsWithin } from './model-laws.ts';
import type { Bounds } from './model.ts';

/** Together they have every pair of mishaps. */
const BOUNDS: readonly Bounds[] = [
  { calls: 2, crashes: 1, lost: 1, waivers: 0 },
  { calls: 2, crashes: 0, lost: 1, waivers: 1 },
  { calls: 3, crashes: 1, lost: 0, waivers: 1 },
];

describe('every interleaving of two senders, a sweeper and an operator, with a crash and a lost answer of the store', () => {
  for (const bounds of BOUNDS) itHoldsWithin(bounds);
});
