import { orderShop, type Wish } from '@carillon/testing/given';
import { createMemoryStores } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessOf, openControl, personWith, type Fixture, publishWishes } from './control-fixture.ts';

const SHOP = '/v1/workspaces/shop/consents';
let fixture: Fixture;

beforeEach(async () => {
  const consents = createMemoryStores().connect().consents;
  fixture = await openControl(accessOf(personWith('ann', ['read', 'bodies', 'operate'])), { consents });
  const categories = { orders: { was: ['purchases'] } };
  const workspace: Wish = { ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: { categories } };
  const wishes = [workspace, ...orderShop(undefined, 'shop')].map((wish) =>
    wish.ref.kind === 'notification' && wish.body !== null
      ? { ...wish, body: { ...wish.body, category: 'orders' } }
      : wish,
  ) as readonly Wish[];
  await publishWishes(fixture, wishes);
});
afterEach(() => fixture.control.close(0));

type Answered = { readonly items: readonly { readonly person: string }[]; readonly detail: string };
type Paged = Answered & { readonly next: string | null };
const set = (body: object) => fixture.control.app.inject({ method: 'POST', url: SHOP, payload: body });
/** Who is found, without the host of their address; or what is wrong. */
async function found(query: string): Promise<string> {
  const answer = await fixture.control.app.inject({ url: `${SHOP}?${query}` });
  const { items, detail } = answer.json<Answered>();
  if (answer.statusCode !== 200) return detail;
  const names = items.map(({ person }) => person.split('@')[0] ?? '');
  return names.toSorted((one, other) => one.localeCompare(other)).join(' ');
}

describe('Consents can be listed', () => {
  beforeEach(async () => {
    await set({ person: 'all@example.com', target: 'all', opted_out: true });
    await set({ person: 'mail@example.com', target: 'category', name: 'orders', channel: 'email', opted_out: true });
    for (const opted_out of [true, false]) {
      await set({ person: 'back@example.com', target: 'category', name: 'orders', opted_out });
    }
    await set({ person: 'one@example.com', target: 'notification', name: 'order-paid', opted_out: true });
  });

  it.each([
    ['target=category', 'back mail'],
    ['target=category&opted_out=true', 'mail'],
    ['target=category&name=purchases&channel=email&opted_out=true', 'mail'],
    ['target=category&name=orders&channel=sms', 'back'],
    ['target=notification&name=order-paid', 'one'],
    ['target=category&person=MAIL@example.com', 'mail'],
    ['target=category&person=one@example.com', ''],
  ])('by target, channel and opt-out state: %s', async (query, people) => {
    expect(await found(query)).toBe(people);
  });

  it('only by names that exist, and by a name only together with its target', async () => {
    expect(await found('target=notification&name=order-payed')).toContain('did you mean order-paid?');
    expect(await found('name=orders')).toBe('name: say with target whether it is a category or a notification');
    expect(await found('target=some')).toContain('target');
  });

  it('page by page, without entries that do not match', async () => {
    const people: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const url: string = `${SHOP}?opted_out=true&limit=1${cursor && `&cursor=${cursor}`}`;
      const page: Paged = (await fixture.control.app.inject({ url })).json<Paged>();
      people.push(...page.items.map(({ person }) => person));
      cursor = page.next;
    }
    expect(new Set(people)).toEqual(new Set(['all@example.com', 'mail@example.com', 'one@example.com']));
    expect(people).toHaveLength(3);
  });
});
