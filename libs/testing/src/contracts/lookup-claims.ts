import type { LookupClaim, LookupClaims } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const claim = (triggerId: string, offset: number): LookupClaim => ({
  triggerId,
  position: `carillon.lookups/0@${offset}`,
  at: 1,
});

/** Contract of claims: the first claimed answer of a trigger counts, whoever claims and however often. */
export function describeLookupClaims(name: string, make: () => Promise<UnderTest<LookupClaims>>): void {
  describe(`${name} keeps the contract of lookup claims`, () => {
    const { port: claims } = freshFor(make);

    it('gives a trigger to the first position, again when it comes again, and keeps the others as superseded', async () => {
      const [a, b] = [freshName('trg'), freshName('trg')];
      expect(await claims().claim([claim(a, 7), claim(b, 8)])).toEqual([claim(a, 7).position, claim(b, 8).position]);
      expect(await claims().claim([claim(a, 7)])).toEqual([claim(a, 7).position]);
      expect(await claims().claim([claim(a, 9), claim(b, 8)])).toEqual([claim(a, 7).position, claim(b, 8).position]);
      await claims().claim([claim(a, 9)]);
      expect(await claims().get(a)).toEqual({ position: claim(a, 7).position, superseded: [claim(a, 9).position] });
      expect(await claims().get(b)).toEqual({ position: claim(b, 8).position, superseded: [] });
      expect(await claims().get(freshName('trg'))).toBeNull();
      expect(await claims().claim([])).toEqual([]);
    });

    it('lets the earlier of two in one call win', async () => {
      const a = freshName('trg');
      const first = claim(a, 3).position;
      expect(await claims().claim([claim(a, 3), claim(a, 5), claim(a, 3)])).toEqual([first, first, first]);
      expect(await claims().get(a)).toEqual({ position: first, superseded: [claim(a, 5).position] });
    });

    it('lists the first claim of each id that begins with a text, page by page', async () => {
      const beginning = `${freshName('inbound')} `;
      const ids = ['c', 'a', 'b'].map((end) => `${beginning}${end}`);
      await claims().claim(ids.map((id, at) => claim(id, at)));
      await claims().claim([claim(ids[0] as string, 9), claim(freshName('trg'), 1)]);
      const first = await claims().list(beginning, 2);
      expect(first.items).toEqual([claim(ids[1] as string, 1), claim(ids[2] as string, 2)]);
      const rest = await claims().list(beginning, 2, first.next ?? undefined);
      expect(rest).toEqual({ items: [claim(ids[0] as string, 0)], next: null });
    });

    it('has one winner when many claim one trigger at once', async () => {
      const a = freshName('race');
      const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => claims().claim([claim(a, at)])));
      expect(new Set(answers.flat()).size).toBe(1);
      const stored = await claims().get(a);
      expect(stored?.position).toBe(answers[0]?.[0]);
      expect(stored?.superseded).toHaveLength(19);
    });
  });
}
