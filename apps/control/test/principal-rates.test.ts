import { afterEach, expect, test } from 'vitest';
import { PRINCIPAL_RATES } from '../src/access/principal-rates.ts';
import { accessOf, openControl, personWith, TOKEN, type Fixture } from './control-fixture.ts';

let open: Fixture | undefined;
afterEach(() => open?.control.app.close());

const statusOf = async ({ control }: Fixture, headers = {}): Promise<number> =>
  (await control.app.inject({ method: 'POST', url: '/v1/doctor', headers, payload: {} })).statusCode;

test('A person above the rate of changes gets 429 with a retry time, and is served after it', async () => {
  open = await openControl(accessOf(personWith('per_ann', ['operate'])));
  for (let at = 0; at < PRINCIPAL_RATES.changes; at += 1) expect(await statusOf(open)).toBe(200);
  const refused = await open.control.app.inject({ method: 'POST', url: '/v1/doctor', payload: {} });
  expect(refused.statusCode).toBe(429);
  expect(refused.json()).toMatchObject({ code: 'rate_limited' });
  expect(Number(refused.headers['retry-after'])).toBe(60);
  open.clock.pass(PRINCIPAL_RATES.span);
  expect(await statusOf(open)).toBe(200);
});

test('The rate of one person does not affect another, and the owner token is not limited', async () => {
  const people = ['per_ann', 'per_bob'].map((name) => personWith(name, ['operate']));
  const [ann, bob] = people;
  if (!ann || !bob) throw new Error('there are two');
  let who = ann;
  open = await openControl({ ...accessOf(ann), who: async () => who });
  for (let at = 0; at <= PRINCIPAL_RATES.changes; at += 1) await statusOf(open);
  expect(await statusOf(open)).toBe(429);
  who = bob;
  expect(await statusOf(open)).toBe(200);
  await open.control.app.close();
  open = await openControl();
  for (let at = 0; at <= PRINCIPAL_RATES.changes; at += 1) {
    expect(await statusOf(open, { authorization: `Bearer ${TOKEN}` })).toBe(200);
  }
});

test('A rate-limit refusal is delayed, so that a client that retries at once costs little', async () => {
  open = await openControl(accessOf(personWith('per_ann', ['operate'])));
  for (let at = 0; at < PRINCIPAL_RATES.changes; at += 1) await statusOf(open);
  const began = performance.now();
  expect(await statusOf(open)).toBe(429);
  expect(performance.now() - began).toBeGreaterThanOrEqual(90);
});
