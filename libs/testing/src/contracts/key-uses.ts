import type { KeyUseStore } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

export function describeKeyUses(name: string, make: () => Promise<UnderTest<KeyUseStore>>): void {
  describe(`${name} keeps the contract of key uses`, () => {
    const { port: store } = freshFor(make);
    const lastUse = async (keyId: string) => (await store().lastUses([keyId])).get(keyId);

    it('knows when each key was last used, and nothing of a key that never was', async () => {
      const [one, two, never] = [freshName('one'), freshName('two'), freshName('never')];
      await store().record([
        { keyId: one, at: 1000 },
        { keyId: two, at: 2000 },
      ]);
      expect(await store().lastUses([one, two, never])).toEqual(
        new Map([
          [one, 1000],
          [two, 2000],
        ]),
      );
      expect(await store().lastUses([])).toEqual(new Map());
    });

    it('keeps the newest time, whatever comes after it', async () => {
      const key = freshName('key');
      await store().record([{ keyId: key, at: 2000 }]);
      await store().record([{ keyId: key, at: 1000 }]);
      expect(await lastUse(key)).toBe(2000);
      await store().record([
        { keyId: key, at: 4000 },
        { keyId: key, at: 3000 },
      ]);
      expect(await lastUse(key)).toBe(4000);
      await store().record([]);
      expect(await lastUse(key)).toBe(4000);
    });

    it('keeps the newest of many that come at once', async () => {
      const key = freshName('key');
      await Promise.all(
        Array.from({ length: 12 }, (_, at) => store().record([{ keyId: key, at: 1000 + ((at * 5) % 12) }])),
      );
      expect(await lastUse(key)).toBe(1011);
    });
  });
}
