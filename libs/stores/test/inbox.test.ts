import type { Message } from '@carillon/domain/channels';
import type { InboxFilter, InboxMessage } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { allPages, freshName } from '@carillon/testing';
import { createDirectWire, createMemoryDocuments } from '@carillon/testing/memory';
import { createStores, removeExpired } from '../src/index.ts';

const DAY = 86_400_000;

const email: Message = {
  channel: 'email',
  to: 'ada@example.com',
  from: { name: 'Shop', address: 'shop@example.com' },
  subject: 'Grüße',
  html: null,
  text: 'Hello',
  messageId: '<dlv_1.1@example.com>',
};
const push: Message = {
  channel: 'push',
  to: 'dKz_A:APA91b',
  title: 'Paid',
  body: null,
  image: null,
  link: 'https://shop.example.com/orders/1',
  data: { order: 'A-1', __proto__x: '1' },
  priority: 'high',
  collapse: null,
  androidChannel: null,
  apnsSound: 'default',
};
const EACH: readonly Message[] = [email, { channel: 'sms', to: '+4930123456', text: 'Grüße\n€' }, push];

const message = (more: Partial<InboxMessage> = {}): InboxMessage => ({
  id: freshName('msg'),
  workspace: 'shop',
  deliveryId: 'dlv_1',
  message: email,
  at: 1,
  ...more,
});

describe('Inbox', () => {
  const documents = createMemoryDocuments().connect(createDirectWire());
  const { inbox } = createStores(documents);

  it.each(EACH)('stores a message of $channel once and completely', async (sent) => {
    const first = message({ message: sent });
    await inbox.put(first);
    await inbox.put({ ...first, deliveryId: 'dlv_2' });
    expect(await inbox.get(first.id)).toEqual(first);
    expect(await inbox.get(freshName('unknown'))).toBeNull();
  });

  it('finds only the messages of a workspace, channel, recipient and time range', async () => {
    const [mine, other] = [freshName('shop'), freshName('lab')];
    const to = (address: string): Message => ({ ...email, to: address });
    const made = [
      message({ workspace: mine, at: 10, message: to('ada@example.com') }),
      message({ workspace: mine, at: 20, message: { channel: 'sms', to: '+4930123456', text: 'Paid' } }),
      message({ workspace: other, at: 30, message: to('ada@example.com') }),
      message({ workspace: mine, at: 40, message: to('adam@example.com') }),
      message({ workspace: mine, at: 50, message: push }),
    ];
    for (const one of made) await inbox.put(one);
    const found = async (filter: InboxFilter): Promise<readonly number[]> =>
      (
        await allPages(
          (cursor) => inbox.list(filter, 2, cursor),
          async () => {},
        )
      ).map(({ at }) => at);
    expect(await found({ workspace: mine })).toEqual([50, 40, 20, 10]);
    expect(await found({ workspace: freshName('none') })).toEqual([]);
    expect(await found({ workspace: mine, channels: ['sms', 'push'] })).toEqual([50, 20]);
    expect(await found({ workspace: mine, channels: [] })).toEqual([]);
    expect(await found({ workspace: mine, to: ['ada'] })).toEqual([40, 10]);
    expect(await found({ workspace: mine, to: ['ada@', '+49'] })).toEqual([20, 10]);
    expect(await found({ workspace: mine, to: ['Ada@'] })).toEqual([]);
    expect(await found({ workspace: mine, to: [] })).toEqual([]);
    expect(await found({ workspace: mine, since: 20, before: 50 })).toEqual([40, 20]);
    expect(await found({ workspace: other, channels: ['email'], to: ['ada@example.com'], since: 30 })).toEqual([30]);
  });

  it('lists newest first, page by page, while others arrive', async () => {
    const base = Date.now();
    const made = [0, 0, 1, 2, 2].map((later) => message({ at: base + later }));
    for (const one of made) await inbox.put(one);
    const seen = await allPages(
      (cursor) => inbox.list({}, 2, cursor),
      () => inbox.put(message({ at: base + 1000 })),
    );
    const own = seen.filter(({ id }) => made.some((one) => one.id === id));
    expect(own.map(({ id }) => id).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    expect(own.map(({ at }) => at)).toEqual(own.map(({ at }) => at).toSorted((a, b) => b - a));
  });

  it('removes a message after thirty days', async () => {
    const kept = message({ at: 10 });
    await inbox.put(kept);
    await removeExpired(documents, 10 + 30 * DAY);
    expect(await inbox.get(kept.id)).toEqual(kept);
    await removeExpired(documents, 11 + 30 * DAY);
    expect(await inbox.get(kept.id)).toBeNull();
  });
});
