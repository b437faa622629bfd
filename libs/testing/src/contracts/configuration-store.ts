import type { LogId } from '@carillon/kernel';
import type { ConfigurationStore, LeaseStore } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

export function describeConfigurationStore(name: string, make: () => Promise<UnderTest<ConfigurationStore>>): void {
  describe(`${name} keeps the contract of a configuration store`, () => {
    const { port: store } = freshFor(make);

    it('keeps the first identity it was given, for everybody', async () => {
      const fresh = (at: number) => ({ logId: `log_${at}` as LogId, keyFingerprint: `key-${at}` });
      const answers = await Promise.all([1, 2, 3, 4].map((at) => store().identity(fresh(at))));
      const first = await store().identity(fresh(5));
      for (const answer of answers) expect(answer).toEqual(first);
      expect(first.keyFingerprint.slice(-1)).toBe(first.logId.slice(-1));
    });
  });
}

/** A lease is held by one, until it ends or is given back. */
export function describeLeases(name: string, make: () => Promise<UnderTest<LeaseStore>>): void {
  describe(`${name} keeps the contract of leases`, () => {
    const { port: leases } = freshFor(make);

    it('gives a lease to one of many who ask at once', async () => {
      const lease = freshName('clock');
      const holders = Array.from({ length: 10 }, (_, at) => leases().acquire(lease, `holder-${at}`, 0, 100));
      expect((await Promise.all(holders)).filter(Boolean)).toHaveLength(1);
    });

    it('renews for its holder and refuses others until it has ended', async () => {
      const lease = freshName('clock');
      expect(await leases().acquire(lease, 'a', 0, 100)).toBe(true);
      expect(await leases().acquire(lease, 'b', 50, 150)).toBe(false);
      expect(await leases().acquire(lease, 'a', 90, 190)).toBe(true);
      expect(await leases().acquire(lease, 'b', 150, 250)).toBe(false);
      expect(await leases().acquire(lease, 'b', 190, 290)).toBe(true);
      expect(await leases().acquire(lease, 'a', 200, 300)).toBe(false);
    });

    it('is given back by its holder only', async () => {
      const lease = freshName('clock');
      await leases().acquire(lease, 'a', 0, 100);
      await leases().release(lease, 'b');
      expect(await leases().acquire(lease, 'b', 1, 100)).toBe(false);
      await leases().release(lease, 'a');
      expect(await leases().acquire(lease, 'b', 1, 100)).toBe(true);
    });

    it('keeps leases of different names apart', async () => {
      expect(await leases().acquire(freshName('one'), 'a', 0, 100)).toBe(true);
      expect(await leases().acquire(freshName('two'), 'b', 0, 100)).toBe(true);
    });
  });
}
