import { ID_PREFIXES, isId, type IdKind } from '@carillon/kernel';
import type { Clock, Ids } from '@carillon/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freshFor, type UnderTest } from './under-test.ts';

export function describeClock(name: string, make: () => Promise<UnderTest<Clock>>): void {
  describe(`${name} keeps the contract of a clock`, () => {
    const { port: clock } = freshFor(make);

    it('tells whole milliseconds since 1970', () => {
      const now = clock().now();
      expect(Number.isSafeInteger(now)).toBe(true);
      expect(now).toBeGreaterThan(Date.UTC(2020, 0));
      expect(now).toBeLessThan(Date.UTC(2200, 0));
    });
  });
}

const KINDS = Object.keys(ID_PREFIXES) as IdKind[];
const anyKind = fc.constantFrom(...KINDS);
const anyParts = fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 });

/** Contract of ids: equal in every process at any time, and opaque. `make` always uses the same key. */
export function describeIds(name: string, make: () => Promise<UnderTest<Ids>>): void {
  describe(`${name} keeps the contract of ids`, () => {
    const { port: ids } = freshFor(make);

    it('derives ids of the right shape, the same for the same cause', () => {
      fc.assert(
        fc.property(anyKind, anyParts, (kind, parts) => {
          const id = ids().derive(kind, ...parts);
          expect(isId(kind, id)).toBe(true);
          expect(ids().derive(kind, ...parts)).toBe(id);
        }),
      );
    });

    it('derives different ids for different parts, boundaries included', () => {
      fc.assert(
        fc.property(anyParts, anyParts, (one, two) => {
          const same = JSON.stringify(one) === JSON.stringify(two);
          expect(ids().derive('event', ...one) === ids().derive('event', ...two)).toBe(same);
          expect(ids().keyed(...one) === ids().keyed(...two)).toBe(same);
        }),
      );
      expect(ids().derive('event', 'a', 'bc')).not.toBe(ids().derive('event', 'ab', 'c'));
      expect(ids().derive('event', 'a', '')).not.toBe(ids().derive('event', 'a'));
      expect(ids().keyed('a', 'bc')).not.toBe(ids().keyed('ab', 'c'));
    });

    it('keys hashes: they are not those that anybody can compute', async () => {
      expect(ids().keyed('ada@example.com')).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
      for (const kind of KINDS) {
        expect(ids().derive(kind, 'ada@example.com')).not.toContain(ids().keyed('ada@example.com'));
      }
      const again = await make();
      expect(again.port.keyed('ada@example.com')).toBe(ids().keyed('ada@example.com'));
      await again.close();
    });

    it('makes fresh ids and tokens that do not come twice', () => {
      const made = Array.from({ length: 1000 }, () => [ids().random('event'), ids().token()]).flat();
      expect(new Set(made).size).toBe(2000);
      expect(isId('event', ids().random('event'))).toBe(true);
    });

    it('makes fresh ids that sort by their time, and differ at the same time', () => {
      const times = [0, 1, 255, 256, 1_790_000_000_000, 1_790_000_000_001, 2 ** 48 - 1];
      const made = times.map((at) => ids().inOrder('event', at));
      expect(made).toEqual(made.toSorted());
      for (const id of made) expect(isId('event', id)).toBe(true);
      const again = times.map((at) => ids().inOrder('event', at));
      expect(new Set([...made, ...again]).size).toBe(2 * times.length);
    });

    it('gives chances from 0 up to, but not, 1', () => {
      const chances = Array.from({ length: 1000 }, () => ids().chance());
      for (const chance of chances) expect(chance >= 0 && chance < 1).toBe(true);
      expect(new Set(chances).size).toBeGreaterThan(900);
    });
  });
}
