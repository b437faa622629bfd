import type { Suppression, SuppressionFilter, SuppressionList } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { allPages } from './pages.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const suppression = (workspace: string, address: string, more: Partial<Suppression> = {}): Suppression => ({
  workspace,
  channel: 'email',
  address,
  source: 'hard_bounce',
  detail: '550 5.1.1',
  deliveryId: 'dlv_1',
  at: 1,
  ...more,
});

export function describeSuppressionList(name: string, make: () => Promise<UnderTest<SuppressionList>>): void {
  describe(`${name} keeps the contract of a suppression list`, () => {
    const { port: list } = freshFor(make);

    it('finds an address by workspace and channel, and keeps the older reason of a source', async () => {
      const workspace = freshName('shop');
      const first = suppression(workspace, 'ada@example.com');
      await list().add(first);
      await list().add({ ...first, detail: 'later', deliveryId: null, at: 2 });
      expect(await list().find(workspace, 'email', 'ada@example.com')).toEqual(first);
      expect(await list().sources(workspace, 'email', 'ada@example.com')).toEqual([first]);
      expect(await list().find(workspace, 'sms', 'ada@example.com')).toBeNull();
      expect(await list().find(freshName('other'), 'email', 'ada@example.com')).toBeNull();
    });

    it('answers each of many that ask at the same time about its own address, channel and workspace', async () => {
      const [here, there] = [freshName('here'), freshName('there')];
      for (const at of [1, 2, 3]) await list().add(suppression(here, `p${at}@example.com`, { at }));
      await list().add(suppression(here, 'p2@example.com', { source: 'complaint', at: 1 }));
      await list().add(suppression(there, '+4915112345678', { channel: 'sms', source: 'stop', at: 9 }));
      const asked = [
        ...Array.from({ length: 90 }, (_, at) => [here, 'email', `p${at}@example.com`] as const),
        [here, 'email', 'P2@EXAMPLE.com'],
        [there, 'email', 'p1@example.com'],
        [there, 'sms', '+4915112345678'],
        [here, 'sms', '+4915112345678'],
      ] as const;
      // Twice, so that the second time all wait while the first are under way.
      const twice = [...asked, ...asked];
      const found = await Promise.all(twice.map(([place, way, address]) => list().find(place, way, address)));
      for (const [at, one] of found.entries()) {
        const [workspace, channel, address] = asked[at % asked.length] ?? [];
        const canonical = address?.toLowerCase();
        const isOn = channel === 'email' ? workspace === here && /^p[123]@/.test(canonical ?? '') : workspace === there;
        expect(one?.address ?? null, `${workspace} ${channel} ${address}`).toBe(isOn ? canonical : null);
        if (canonical === 'p2@example.com' && workspace === here) expect(one?.source).toBe('complaint');
      }
    });

    it('forgets an address that is removed, once', async () => {
      const workspace = freshName('shop');
      await list().add(suppression(workspace, 'ada@example.com'));
      expect(await list().remove(workspace, 'email', 'ada@example.com')).toBe(true);
      expect(await list().remove(workspace, 'email', 'ada@example.com')).toBe(false);
      expect(await list().find(workspace, 'email', 'ada@example.com')).toBeNull();
    });

    it('keeps an entry for each source, so that undoing one leaves the others', async () => {
      const workspace = freshName('shop');
      const bounced = suppression(workspace, 'ada@example.com', { at: 2 });
      const complained: Suppression = { ...bounced, source: 'complaint', detail: 'abuse', at: 3 };
      const imported: Suppression = { ...bounced, source: 'import', deliveryId: null, at: 1 };
      for (const one of [bounced, complained, imported]) await list().add(one);
      const sources = () => list().sources(workspace, 'email', 'Ada@EXAMPLE.com');
      expect(await sources()).toEqual([imported, bounced, complained]);
      expect(await list().find(workspace, 'email', 'ada@example.com')).toEqual(imported);
      expect(await list().remove(workspace, 'email', 'ada@example.com', 'stop')).toBe(false);
      expect(await list().remove(workspace, 'email', 'ADA@example.com', 'import')).toBe(true);
      expect(await list().remove(workspace, 'email', 'ada@example.com', 'import')).toBe(false);
      expect(await sources()).toEqual([bounced, complained]);
      expect(await list().find(workspace, 'email', 'ada@example.com')).toEqual(bounced);
      expect(await list().remove(workspace, 'email', 'ada@example.com')).toBe(true);
      expect(await sources()).toEqual([]);
    });

    it('adds many at once, counts the new ones, and may be asked to do it again', async () => {
      const workspace = freshName('shop');
      const many = Array.from({ length: 300 }, (_, at) =>
        suppression(workspace, `${at}@example.com`, { source: 'import', at }),
      );
      await list().add(many[7] as Suppression);
      await list().add(suppression(workspace, '8@example.com'));
      expect(await list().addAll(many)).toBe(299);
      expect(await list().addAll(many)).toBe(0);
      expect(await list().addAll([])).toBe(0);
      expect(await list().sources(workspace, 'email', '8@example.com')).toHaveLength(2);
      const twice = suppression(workspace, 'twice@example.com');
      expect(await list().addAll([twice, { ...twice, address: 'Twice@EXAMPLE.com' }])).toBe(1);
    });

    it('takes away only what was not said later, and of STOP that was written again the later one counts', async () => {
      const workspace = freshName('shop');
      const phone = '+15555550100';
      const stop = suppression(workspace, phone, { channel: 'sms', source: 'stop', at: 10, detail: 'first' });
      await list().add(stop);
      await list().add({ ...stop, at: 30, detail: 'second' });
      await list().add({ ...stop, at: 20, detail: 'late' });
      await list().add({ ...stop, source: 'operator', at: 5 });
      await list().add({ ...stop, source: 'operator', at: 50 });
      expect(await list().sources(workspace, 'sms', phone)).toMatchObject([
        { source: 'operator', at: 5 },
        { source: 'stop', at: 30 },
      ]);
      expect(await list().remove(workspace, 'sms', phone, 'stop', 29)).toBe(false);
      expect(await list().sources(workspace, 'sms', phone)).toHaveLength(2);
      expect(await list().remove(workspace, 'sms', phone, 'stop', 30)).toBe(true);
      expect(await list().sources(workspace, 'sms', phone)).toMatchObject([{ source: 'operator' }]);
      expect(await list().remove(workspace, 'sms', phone, undefined, 5)).toBe(true);
      expect(await list().find(workspace, 'sms', phone)).toBeNull();
    });

    it('lists by workspace, channel and source', async () => {
      const workspace = freshName('shop');
      await list().add(suppression(workspace, 'ada@example.com'));
      await list().add(suppression(workspace, 'ada@example.com', { source: 'operator' }));
      await list().add(suppression(workspace, '+15555550100', { channel: 'sms', source: 'stop' }));
      const listed = async (filter: SuppressionFilter) =>
        (await list().list({ workspace, ...filter }, 10)).items.map(({ channel, source }) => `${channel} ${source}`);
      expect((await listed({})).toSorted()).toEqual(['email hard_bounce', 'email operator', 'sms stop']);
      expect(await listed({ source: 'operator' })).toEqual(['email operator']);
      expect((await listed({ channel: 'email' })).toSorted()).toEqual(['email hard_bounce', 'email operator']);
      expect(await listed({ channel: 'sms', source: 'operator' })).toEqual([]);
    });

    it('lists an address in any form, of one channel or of all, and who put it there', async () => {
      const workspace = freshName('shop');
      const byHand = suppression(workspace, 'Ada@BÜCHER.example', { source: 'operator', by: 'ann', deliveryId: null });
      await list().add(byHand);
      await list().add(suppression(workspace, 'ada@bücher.example'));
      await list().add(suppression(workspace, '+49 30 123456', { channel: 'sms', source: 'stop' }));
      await list().add(suppression(workspace, 'ada@bücher.example', { channel: 'push', source: 'dead_token' }));
      const listed = async (filter: SuppressionFilter) => (await list().list({ workspace, ...filter }, 10)).items;
      const named = async (filter: SuppressionFilter) =>
        (await listed(filter)).map(({ channel, source }) => `${channel} ${source}`).toSorted();
      expect(await named({ address: 'ADA@bücher.example.' })).toEqual(['email hard_bounce', 'email operator']);
      expect(await named({ address: 'ada@bücher.example' })).toEqual([
        'email hard_bounce',
        'email operator',
        'push dead_token',
      ]);
      expect(await named({ address: 'ada@bücher.example', channel: 'push' })).toEqual(['push dead_token']);
      expect(await named({ address: '+4930123456' })).toEqual(['sms stop']);
      expect(await named({ address: '+4930123456', channel: 'email' })).toEqual([]);
      expect(await named({ address: 'bob@bücher.example' })).toEqual([]);
      const [first] = await listed({ address: 'ada@bücher.example', source: 'operator' });
      expect(first).toEqual({ ...byHand, address: 'ada@xn--bcher-kva.example' });
      const { items, next } = await list().list({ workspace, address: 'ada@bücher.example' }, 2);
      const rest = await list().list({ workspace, address: 'ada@bücher.example' }, 2, next ?? '');
      expect([...items, ...rest.items]).toHaveLength(3);
    });

    it('takes a token of 4,096 characters', async () => {
      const workspace = freshName('shop');
      const token = `${freshName('t')}${'x'.repeat(4096)}`.slice(0, 4096);
      await list().add(suppression(workspace, token, { channel: 'push', source: 'dead_token' }));
      expect((await list().list({ workspace, address: token }, 10)).items).toHaveLength(1);
      expect(await list().remove(workspace, 'push', token)).toBe(true);
    });

    it('knows an address in whatever form it is asked about, and keeps one form', async () => {
      const workspace = freshName('shop');
      await list().add(suppression(workspace, 'Ada@BÜCHER.example.'));
      for (const form of [
        'ada@xn--bcher-kva.example',
        'ada@bücher。example',
        'ada@bü\u00adcher.example',
        'ADA@Bücher.example.',
      ]) {
        expect(await list().find(workspace, 'email', form), form).toMatchObject({
          address: 'ada@xn--bcher-kva.example',
        });
      }
      await list().add(suppression(workspace, 'ada@bücher.example', { detail: 'again', at: 2 }));
      expect((await list().list({ workspace }, 10)).items).toHaveLength(1);
      await list().add(suppression(workspace, '+49 (30) 123-456', { channel: 'sms' }));
      expect(await list().find(workspace, 'sms', '+4930123456')).not.toBeNull();
      await list().add(suppression(workspace, 'Token:A', { channel: 'push' }));
      expect(await list().find(workspace, 'push', 'token:a')).toBeNull();
      expect(await list().remove(workspace, 'email', 'Ada@bücher.example')).toBe(true);
      expect(await list().find(workspace, 'email', 'ada@xn--bcher-kva.example')).toBeNull();
    });

    it('turns pages that neither repeat nor skip while others arrive', async () => {
      const workspace = freshName('shop');
      const made = Array.from({ length: 5 }, (_, at) => `${at}@example.com`);
      for (const address of made) await list().add(suppression(workspace, address));
      const seen = await allPages(
        (cursor) => list().list({ workspace }, 2, cursor),
        () => list().add(suppression(workspace, `${freshName('new')}@example.com`, { at: 9 })),
      );
      const addresses = seen.map(({ address }) => address).filter((address) => made.includes(address));
      expect(addresses.toSorted()).toEqual(made);
      expect(new Set(seen.map(({ address }) => address)).size).toBe(seen.length);
      expect((await list().list({}, 3)).items).toHaveLength(3);
    });
  });
}
