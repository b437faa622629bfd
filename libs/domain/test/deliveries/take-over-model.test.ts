import { describe, expect, it } from 'vitest';
import { itHoldsAtOneSlot } from './take-over-laws.ts';
import { exploreSlot, PRODUCT, type SlotBounds, type SlotDecisions } from './take-over-model.ts';

const TWO_CALLS: SlotBounds = { intents: 2, calls: 2, repeats: 0, mishaps: 0 };
const REPEATED: SlotBounds = { intents: 2, calls: 1, repeats: 1, mishaps: 0 };
/** What is gone through in a second or two. The whole of it: take-over-model.proof.test.ts. */
const ONE_CALL: SlotBounds = { intents: 2, calls: 1, repeats: 0, mishaps: 0 };
const THREE: SlotBounds = { intents: 3, calls: 0, repeats: 0, mishaps: 0 };
const TIMEOUT = 300_000;

type Mutant = { readonly rules: Partial<SlotDecisions>; readonly finds: RegExp; readonly bounds?: SlotBounds };
const MUTANTS: Readonly<Record<string, Mutant>> = {
  'a take-over of a slot in doubt': {
    rules: {
      judge: (holder, intent) =>
        PRODUCT.judge(holder.state === 'IN_DOUBT' ? { ...holder, state: 'FAILED', clean: true } : holder, intent),
    },
    finds: /IN_DOUBT lost its slot/,
  },
  'a take-over after a doubt that a person ended': {
    rules: { judge: (holder, intent) => PRODUCT.judge({ ...holder, clean: true }, intent) },
    finds: /FAILED lost its slot/,
  },
  'a doubt that leaves no mark': {
    rules: {
      sweep(seen) {
        const next = PRODUCT.sweep(seen);
        return next && { ...next, clean: true };
      },
    },
    finds: /accepted twice/,
  },
  'a take-over of what a person cancelled': {
    rules: {
      judge: (holder, intent) =>
        PRODUCT.judge(holder.state === 'CANCELLED' ? { ...holder, state: 'EXPIRED' } : holder, intent),
    },
    finds: /CANCELLED lost its slot/,
  },
  'a take-over without compare-and-set': { rules: { cas: () => true }, finds: /lost its slot|accepted twice|is lost/ },
  'an insert over the document of a slot': { rules: { insertsOver: true }, finds: /lost its slot|is lost/ },
  'an intent that comes again and is judged anew': {
    rules: {
      judge: (holder, intent) =>
        PRODUCT.judge({ ...holder, judged: holder.judged.filter((one) => one !== intent.id) }, intent),
    },
    finds: /a holder came back|counted twice|not every intent/,
    bounds: REPEATED,
  },
};

describe('a model of messages with the same unique_id that replace each other, in every order of steps', () => {
  for (const bounds of [ONE_CALL, THREE]) itHoldsAtOneSlot(bounds);

  it('finds a bug in which no message ever replaces an ended one', () => {
    const keep: SlotDecisions['judge'] = (holder, intent) => PRODUCT.judge({ ...holder, clean: false }, intent);
    const { ends } = exploreSlot({ ...PRODUCT, judge: keep }, THREE);
    expect([...ends].filter((end) => !end.endsWith('after 1'))).toEqual([]);
  });

  for (const [name, { rules, finds, bounds = TWO_CALLS }] of Object.entries(MUTANTS)) {
    it(
      `finds the planted bug ${name}`,
      () => expect(exploreSlot({ ...PRODUCT, ...rules }, bounds).violation?.at(-1)).toMatch(finds),
      TIMEOUT,
    );
  }
});
