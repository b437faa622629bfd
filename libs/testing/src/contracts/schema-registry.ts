import type { SchemaRegistry } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

const schema = (name: string, fields: readonly string[] = ['a']): string =>
  JSON.stringify({ type: 'record', name, fields: fields.map((field) => ({ name: field, type: 'string' })) });

export function describeSchemaRegistry(name: string, make: () => Promise<UnderTest<SchemaRegistry>>): void {
  describe(`${name} keeps the contract of a schema registry`, () => {
    const { port: registry } = freshFor(make);
    const record = (): string => freshName('Sample').replaceAll('-', '_');

    it('gives a schema one id, however often and by however many it is registered', async () => {
      const [subject, text] = [freshName('subject'), schema(record())];
      const ids = await Promise.all(Array.from({ length: 5 }, () => registry().register(subject, text)));
      expect(new Set(ids).size).toBe(1);
      expect(ids[0]).toBeGreaterThan(0);
      expect(await registry().register(subject, JSON.stringify(JSON.parse(text), null, 2))).toBe(ids[0]);
    });

    it('gives the schema of an id, and null for one that it does not know', async () => {
      const text = schema(record());
      const id = await registry().register(freshName('subject'), text);
      expect(JSON.parse((await registry().schema(id)) ?? '')).toEqual(JSON.parse(text));
      expect(await registry().schema(2_000_000_000)).toBeNull();
    });

    it('tells schemas apart', async () => {
      const subject = freshName('subject');
      const one = await registry().register(subject, schema(record()));
      const two = await registry().register(freshName('subject'), schema(record()));
      expect(one).not.toBe(two);
    });

    it('refuses what is no JSON', async () => {
      await expect(registry().register(freshName('subject'), '{')).rejects.toThrow();
    });
  });
}
