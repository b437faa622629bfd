import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { askShop, openFilledShop, type FilledShop } from './filled-shop.ts';

/* Two cases of each operation every day; thousands of them, also as a viewer and on both backends, are a proof. */

describeWith(['python', 'pip'], 'The management API, asked for what a program makes of its schemas', () => {
  let shop: FilledShop;
  beforeAll(async () => {
    shop = await openFilledShop();
  });
  afterAll(() => shop.close());

  it('answers its owner as its description says, and fails never', async () => {
    const { failures, tested, cases } = await askShop(shop, 'owner', { cases: 2, seed: 20 });
    expect(failures).toEqual([]);
    expect(tested).toBeGreaterThan(200);
    expect(cases).toBeGreaterThan(tested);
  }, 900_000);
});
