import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/deliveries/index.ts';
import { itHoldsWithin } from './model-laws.ts';
import { explore, PRODUCT, type Bounds, type Decisions } from './model.ts';

const ALL_BUT_OPERATOR: Bounds = { calls: 2, crashes: 1, lost: 1, waivers: 0 };
const WITH_OPERATOR: Bounds = { calls: 3, crashes: 0, lost: 0, waivers: 1 };
/** What is gone through in a second or two. The whole of it: model.proof.test.ts. */
const SMALL: readonly Bounds[] = [
  { calls: 2, crashes: 1, lost: 0, waivers: 0 },
  { calls: 2, crashes: 0, lost: 1, waivers: 0 },
  { calls: 2, crashes: 0, lost: 0, waivers: 1 },
];

type Mutant = { readonly rules: Partial<Decisions>; readonly finds: RegExp; readonly bounds?: Bounds };
const MUTANTS: Readonly<Record<string, Mutant>> = {
  'a sweeper that sends again': {
    rules: { sweep: (seen) => waitAgain(PRODUCT.sweep(seen)) },
    finds: /accepted twice/,
  },
  'a ledger without compare-and-set': { rules: { cas: () => true }, finds: /accepted twice/ },
  'a retry after an ambiguous answer': {
    rules: {
      settle: (seen, token, verdict) => PRODUCT.settle(seen, token, verdict === 'ambiguous' ? 'transient' : verdict),
    },
    finds: /accepted twice/,
  },
  'a late answer that overwrites whatever stands there': {
    rules: { settle: (seen, token, verdict) => PRODUCT.settle({ ...seen, token, state: 'SENDING' }, token, verdict) },
    finds: /an end was taken back/,
    bounds: WITH_OPERATOR,
  },
  'a worker that calls without knowing whether its write was done': {
    rules: { proceedsBlindly: true },
    finds: /accepted twice/,
  },
  'a bulk of writes that says stale of one that it did': {
    rules: { saysOfTaken: 'stale' },
    finds: /a call that was never made/,
    bounds: { calls: 2, crashes: 0, lost: 0, waivers: 0 },
  },
  'a sweeper that does nothing': { rules: { sweep: () => undefined }, finds: /stuck in SENDING/ },
  'an acceptance that is forgotten while a second call is under way': {
    rules: { settle: (seen, token, verdict) => proofAgain(seen, PRODUCT.settle(withoutProof(seen), token, verdict)) },
    finds: /begun although/,
    bounds: WITH_OPERATOR,
  },
};

const waitAgain = (doc: Delivery | undefined): Delivery | undefined =>
  doc && { ...doc, state: 'WAITING', token: null, nextAt: doc.updatedAt };
const withoutProof = (doc: Delivery): Delivery => ({
  ...doc,
  attempts: doc.attempts.map((one) => (one.result?.verdict === 'accepted' ? { ...one, result: null } : one)),
});

const proofAgain = (seen: Delivery, next: Delivery): Delivery => ({
  ...next,
  attempts: next.attempts.map((one, index) =>
    seen.attempts[index]?.result?.verdict === 'accepted' ? (seen.attempts[index] ?? one) : one,
  ),
});

describe('a model of one delivery with two senders, a sweeper, an operator, and a crash or a lost database response, in every order', () => {
  for (const bounds of SMALL) itHoldsWithin(bounds);

  for (const [name, { rules, finds, bounds = ALL_BUT_OPERATOR }] of Object.entries(MUTANTS)) {
    it(`finds the planted bug ${name}`, () => {
      const { violation } = explore({ ...PRODUCT, ...rules }, bounds);
      expect(violation?.at(-1)).toMatch(finds);
    });
  }
});
