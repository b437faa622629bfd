import { describe } from 'vitest';
import { itHoldsAtOneSlot } from './take-over-laws.ts';
import type { SlotBounds } from './take-over-model.ts';

const BOUNDS: readonly SlotBounds[] = [
  { intents: 2, calls: 2, repeats: 0, mishaps: 0 },
  { intents: 2, calls: 1, repeats: 1, mishaps: 0 },
  { intents: 2, calls: 1, repeats: 0, mishaps: 1 },
];

describe('a model of messages with the same unique_id that replace each other, in every order of steps', () => {
  for (const bounds of BOUNDS) itHoldsAtOneSlot(bounds);
});
