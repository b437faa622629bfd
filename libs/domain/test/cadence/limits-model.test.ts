import { describe, expect, it } from 'vitest';
import { itKeepsTheLimit } from './limits-laws.ts';
import { exploreLimits, PRODUCT, type LimitBounds, type LimitSteps } from './limits-model.ts';

const TIMEOUT = 300_000;
const CRASHING: LimitBounds = { tokens: 3, crashes: 1, cancels: 0, others: 0 };
const TAKEN_OVER: LimitBounds = { tokens: 4, crashes: 0, cancels: 0, others: 1 };

/** An entry for each delivery, moved and never added. */
const MOVES: Partial<LimitSteps> = {
  take: (before, entry, revision) =>
    PRODUCT.take(
      before && { ...before, entries: before.entries.filter(({ deliveryId }) => deliveryId !== entry.deliveryId) },
      entry,
      revision,
    ),
};
type Mutant = { readonly steps: Partial<LimitSteps>; readonly finds: RegExp; readonly bounds: LimitBounds };
const MUTANTS: Readonly<Record<string, Mutant>> = {
  'one entry for each delivery, given back by whoever has lost (as it was written first)': {
    steps: {
      ...MOVES,
      giveBack: (before, { deliveryId }, revision) =>
        before
          ? { ...before, revision, entries: before.entries.filter((entry) => entry.deliveryId !== deliveryId) }
          : undefined,
    },
    finds: /too many/,
    bounds: TAKEN_OVER,
  },
  'an entry that is moved': { steps: MOVES, finds: /too many/, bounds: TAKEN_OVER },
  'a place that is taken from whoever may still step': {
    steps: { fences: false },
    finds: /too many/,
    bounds: CRASHING,
  },
  'a place that is taken once the message is sent': {
    steps: { takesAfter: true },
    finds: /too many/,
    bounds: CRASHING,
  },
  'a place that its taker has yet to give back, and that stands for the message of another': {
    steps: {
      fate: (entry, delivery, now) =>
        delivery?.state === 'SENT' && delivery.intent.triggerId === entry.triggerId
          ? 'sure'
          : PRODUCT.fate(entry, delivery, now),
    },
    finds: /too many/,
    bounds: { ...CRASHING, crashes: 0 },
  },
  'a limit that is full by what nobody has looked at': {
    steps: { dropsOnAnyEntry: true },
    finds: /dropped although/,
    bounds: CRASHING,
  },
};

describe('a model of two workers under a limit of one message per person, in every order of steps', () => {
  itKeepsTheLimit({ tokens: 2, crashes: 1, cancels: 0, others: 0 });

  for (const [name, { steps, finds, bounds }] of Object.entries(MUTANTS)) {
    it(
      `finds the planted bug ${name}`,
      () => expect(exploreLimits({ ...PRODUCT, ...steps }, bounds).violation?.at(-1)).toMatch(finds),
      TIMEOUT,
    );
  }
});
