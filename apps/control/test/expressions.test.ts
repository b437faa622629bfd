import { givenExpressions, orderShop } from '@carillon/testing/given';
import { createDirectWire, createMemoryReadModels } from '@carillon/testing/memory';
import { afterEach, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { CONTENT_EXAMPLES } from '../src/openapi/content-examples.ts';
import { accessOf, openControl, type Fixture, publishWishes } from './control-fixture.ts';

let fixture: Fixture | null = null;
afterEach(async () => {
  await fixture?.control.app.close();
  fixture = null;
});

const SHOP = { ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: {} } as const;
const FIELD = {
  workspace: 'shop',
  stream: 'shop/orders',
  partition: 0,
  offset: 1,
  firstAt: 1,
  lastAt: 2,
  count: 3,
  tables: [],
};

/** Asks about expressions of a shop whose orders have a text as their status and a number as their total. */
async function openShop() {
  const readModels = createMemoryReadModels().connect(createDirectWire());
  await readModels.put({
    fields: [
      { ...FIELD, path: 'status', types: ['string'], sample: '"paid"' },
      { ...FIELD, path: 'total', types: ['number'], sample: '40' },
      { ...FIELD, path: 'items', types: ['array'], sample: null },
      { ...FIELD, path: 'items[].qty', types: ['number'], sample: '2' },
    ],
  });
  fixture = await openControl(accessOf(deploymentOwner('session')), { readModels, expressions: givenExpressions });
  const { control } = fixture;
  await publishWishes(fixture, [SHOP, ...orderShop()]);
  return async (payload: object) => {
    const answer = await control.app.inject({ method: 'POST', url: '/v1/workspaces/shop/expressions/check', payload });
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
  };
}

it('returns an expression as a form, with an applied change and unknown fields', async () => {
  const check = await openShop();
  const { takes, answers } = CONTENT_EXAMPLES.checkExpression;
  expect(await check(takes)).toEqual({ status: 200, body: answers });
});

it('says where an expression is wrong, and what to write', async () => {
  const check = await openShop();
  expect(await check({ source: 'event.total = 100' })).toMatchObject({
    status: 200,
    body: { form: null, faults: [{ line: 1, column: 13, fix: 'write `==`' }] },
  });
});

it('warns of a type that a field never had, and counts any element of a list', async () => {
  const check = await openShop();
  const source = 'event.total.startsWith("1") && event.items[0].qty > 1 && event.items.exists(i, i.qty > 1)';
  expect((await check({ source, stream: 'orders' })).body['warnings']).toEqual([
    { path: 'total', message: 'total was never string in shop/orders: it was number', nearest: null },
  ]);
});

it('refuses an unknown stream, and an invalid change', async () => {
  const check = await openShop();
  expect(await check({ source: 'true', stream: 'order' })).toMatchObject({
    status: 404,
    body: { detail: expect.stringContaining('orders') as string },
  });
  for (const change of [
    { kind: 'replace', at: [0, 0, 0], condition: { kind: 'true', path: ['event', 'a'], not: false } },
    { kind: 'add', at: [], condition: { kind: 'compare', path: [], op: '==', value: 1 } },
    {
      kind: 'add',
      at: [],
      condition: { kind: 'some', path: ['event'], name: 'i, true) || (', field: [], op: '==', value: 1 },
    },
  ]) {
    expect((await check({ source: 'true', change })).status).toBe(400);
  }
});
