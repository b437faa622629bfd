import { afterEach, beforeEach, expect, test } from 'vitest';
import { TOKEN } from './control-fixture.ts';
import { openPeople, type Browser, type PeopleFixture } from './people-fixture.ts';

let fixture: PeopleFixture;
beforeEach(async () => {
  fixture = await openPeople();
  const authorization = `Bearer ${TOKEN}`;
  const payload = { name: 'first' };
  const made = await fixture.control.app.inject({
    method: 'POST',
    url: '/v1/workspaces/shop/api-keys',
    headers: { authorization },
    payload,
  });
  expect(made.statusCode).toBe(201);
});
afterEach(() => fixture.control.app.close());

const reach = (who: Browser, step: string, seconds: number, clicks: number) =>
  who.call('POST', '/v1/workspaces/shop/onboarding', { step, seconds, clicks });
type Numbers = {
  readonly people: number;
  readonly steps: readonly { readonly step: string; readonly reached: number }[];
};
const numbers = async (owner: Browser) => (await owner.call<Numbers>('GET', '/v1/onboarding')).body;

test('Each person counts once for a step, by the first time, and is stopped where they went no further', async () => {
  await fixture.addPerson('ada@example.com', { shop: 'viewer' });
  await fixture.addPerson('bob@example.com', { shop: 'editor' });
  const [ada, bob] = [await fixture.signedIn('ada@example.com'), await fixture.signedIn('bob@example.com')];
  for (const [who, step, seconds, clicks] of [
    [ada, 'came', 0, 0],
    [bob, 'came', 0, 0],
    [ada, 'event', 50, 9],
    [ada, 'message', 60, 11],
    [ada, 'message', 900, 90],
    [bob, 'event', 300, 20],
  ] as const) {
    expect(await reach(who, step, seconds, clicks)).toMatchObject({ status: 200, body: { noted: true } });
  }
  const { people, steps } = await numbers(await fixture.owner());
  expect(people).toBe(2);
  expect(steps.filter(({ reached }) => reached > 0)).toEqual([
    { step: 'came', reached: 2, stopped: 0, seconds: 0, clicks: 0 },
    { step: 'event', reached: 2, stopped: 1, seconds: 50, clicks: 9 },
    { step: 'message', reached: 1, stopped: 1, seconds: 60, clicks: 11 },
  ]);
});

test('Repeating an onboarding step adds nothing to the audit or to the stored person', async () => {
  await fixture.addPerson('ada@example.com', { shop: 'viewer' });
  const ada = await fixture.signedIn('ada@example.com');
  await reach(ada, 'came', 1, 1);
  const { end } = await fixture.log.bounds('carillon.audit', 0);
  const stored = await fixture.people.list('person', {}, 10);
  for (let times = 0; times < 20; times += 1) await reach(ada, 'came', times, times);
  expect((await fixture.log.bounds('carillon.audit', 0)).end).toBe(end);
  expect(await fixture.people.list('person', {}, 10)).toEqual(stored);
});

test('An onboarding step is a known step of a person, not of a token; only owners read the counts, without removed people', async () => {
  const id = await fixture.addPerson('ada@example.com', { shop: 'owner' });
  const ada = await fixture.signedIn('ada@example.com');
  expect(await reach(ada, 'gone', 1, 1)).toMatchObject({ status: 400 });
  await reach(ada, 'came', 1, 1);
  expect(await ada.call('GET', '/v1/onboarding')).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
  const byToken = await fixture.control.app.inject({
    method: 'POST',
    url: '/v1/workspaces/shop/onboarding',
    headers: { authorization: `Bearer ${TOKEN}` },
    payload: { step: 'came', seconds: 1, clicks: 1 },
  });
  expect(byToken.json()).toEqual({ noted: true });
  const owner = await fixture.owner();
  expect((await numbers(owner)).people).toBe(1);
  await owner.call('DELETE', `/v1/people/${id}`);
  expect((await numbers(owner)).people).toBe(0);
});
