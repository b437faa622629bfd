import type { Inbox, InboxMessage } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { allPages } from './pages.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const message = (more: Partial<InboxMessage> = {}): InboxMessage => ({
  id: freshName('msg'),
  workspace: 'shop',
  deliveryId: 'dlv_1',
  channel: 'email',
  from: 'Shop <shop@example.com>',
  to: 'ada@example.com',
  subject: 'Grüße',
  html: '<p>Hello</p>',
  text: 'Hello',
  at: 1,
  ...more,
});

export function describeInbox(name: string, make: () => Promise<UnderTest<Inbox>>): void {
  describe(`${name} keeps the contract of an inbox`, () => {
    const { port: inbox } = freshFor(make);

    it('keeps a message once and whole', async () => {
      const first = message({ html: null });
      await inbox().put(first);
      await inbox().put({ ...first, subject: 'another' });
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
