import { describe } from 'vitest';
import { itHoldsWithin } from './model-laws.ts';
import type { Bounds } from './model.ts';

/** Together they have every pair of mishaps. */
const BOUNDS: readonly Bounds[] = [
  { calls: 2, crashes: 1, lost: 1, waivers: 0 },
  { calls: 2, crashes: 0, lost: 1, waivers: 1 },
  { calls: 3, crashes: 1, lost: 0, waivers: 1 },
];

describe('a model of one delivery with two senders, a sweeper, an operator, a crash and a lost database response, in every order', () => {
  for (const bounds of BOUNDS) itHoldsWithin(bounds);
});
