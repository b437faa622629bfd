import { untilFound } from '@carillon/testing';
import { expect } from 'vitest';
import { follow, type Follower } from '../../../apps/control/test/live-fixture.ts';
import { order, type Shop } from './shop.ts';

/** What the streams of a running shop tell over its real stores, from an event to its message, a draft, and who comes back later. */
export async function followShop(shop: Shop): Promise<void> {
  const authorization = `Bearer ${shop.product.token}`;
  const listen = async (more: Readonly<Record<string, string>> = {}): Promise<Follower> => {
    const topics = 'deliveries,events,inbox,drafts,dead-letters';
    const url = `${shop.product.controlUrl}/v1/workspaces/shop/live?topics=${topics}`;
    const one = await follow(url, { authorization, ...more });
    await untilFound('the stream is open', async () => (one.told[0]?.event === 'open' ? true : undefined));
    return one;
  };
  const told = (one: Follower, event: string, is: (data: Record<string, unknown>) => boolean) =>
    untilFound(`${event} on the stream`, async () => one.told.find((each) => each.event === event && is(each.data)));

  const first = await listen();
  const event = await shop.send(order('L-1'));
  await told(first, 'events', ({ id }) => id === event);
  const sent = await told(first, 'deliveries', ({ event_id: of, state }) => of === event && state === 'SENT');
  const list = await shop.delivered(event, 'SENT');
  expect(sent.data).toEqual(list);
  await told(first, 'inbox', ({ delivery_id: of }) => of === list.id);
  await fetch(`${shop.product.controlUrl}/v1/workspaces/shop/templates/order-paid/draft`, {
    method: 'PUT',
    headers: { authorization, 'content-type': 'application/json', 'if-none-match': '*' },
    body: JSON.stringify({ body: { email: { subject: 'New', text: 'New' } }, based_on: null }),
  });
  await told(first, 'drafts', ({ name }) => name === 'order-paid');

  // Whoever was away hears of what came meanwhile.
  const cursor = first.told.findLast(({ id }) => id !== null)?.id ?? '';
  first.leave();
  const missed = await shop.send(order('L-2'));
  await shop.delivered(missed, 'SENT');
  const second = await listen({ 'last-event-id': cursor });
  await told(second, 'events', ({ id }) => id === missed);
  await told(second, 'deliveries', ({ event_id: of, state }) => of === missed && state === 'SENT');
  // Drafts are few and in no order of time: they alone are read again.
  expect(second.told.filter((one) => one.event === 'reset').map(({ data }) => data['topic'])).toEqual(['drafts']);

  // A stream ends with the token that opened it.
  const wish = { name: 'follower', scopes: ['read'], workspaces: ['shop'] };
  const made = await shop.api<{ id: string; token: string }>('POST', '/v1/tokens', wish);
  const masked = await follow(`${shop.product.controlUrl}/v1/workspaces/shop/live?topics=deliveries`, {
    authorization: `Bearer ${made.body.token}`,
  });
  const hidden = await shop.send(order('L-3'));
  const row = await told(masked, 'deliveries', ({ event_id: of }) => of === hidden);
  expect(row.data['to']).toBe('a•••@e•••.com');
  await shop.api('DELETE', `/v1/tokens/${made.body.id}`);
  await untilFound('the stream has ended', async () => (masked.endedAt() === null ? undefined : true));
  second.leave();
}
