import type { Message } from '@carillon/domain';
import type { Inbox, InboxMessage } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { allPages } from './pages.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

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

export function describeInbox(name: string, make: () => Promise<UnderTest<Inbox>>): void {
  describe(`${name} keeps the contract of an inbox`, () => {
    const { port: inbox } = freshFor(make);

    it.each(EACH)('keeps a message of $channel once and whole', async (sent) => {
      const first = message({ message: sent });
      await inbox().put(first);
      await inbox().put({ ...first, deliveryId: 'dlv_2' });
      expect(await inbox().get(first.id)).toEqual(first);
      expect(await inbox().get(freshName('unknown'))).toBeNull();
    });

    it('lists newest first, page by page, while others arrive', async () => {
      const base = Date.now();
      const made = [0, 0, 1, 2, 2].map((later) => message({ at: base + later }));
      for (const one of made) await inbox().put(one);
      const seen = await allPages(
        (cursor) => inbox().list(2, cursor),
        () => inbox().put(message({ at: base + 1000 })),
      );
      const own = seen.filter(({ id }) => made.some((one) => one.id === id));
      expect(own.map(({ id }) => id).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
      expect(own.map(({ at }) => at)).toEqual(own.map(({ at }) => at).toSorted((a, b) => b - a));
    });
  });
}
