import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDebezium } from '../../src/changes/index.ts';

const FOLDER = join(import.meta.dirname, '../../../../schemas/examples/debezium');

/** A record of Debezium, where it comes from, and the change in it. */
type Example = { readonly origin: string; readonly change: object; readonly key: unknown; readonly value: unknown };

const exampleOf = (file: string): Example => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Example;
const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const POSITIONS: Readonly<Record<string, object>> = {
  'mongodb-delete.json': { table: 'inventory.customers', position: '1558965508000:6', tx: 0 },
  'mongodb-update.json': { table: 'inventory.customers', position: '1558965508000:1', tx: 1 },
  'mysql-update.json': {
    table: 'inventory.customers',
    position: 'mysql-bin.000003:4331:0',
    at: '2021-03-16T21:04:27.000000Z',
  },
  'postgresql-delete.json': { table: 'public.plain', position: '0/1576698', tx: 739 },
  'postgresql-snapshot.json': { table: 'public.plain', tx: 730 },
  'postgresql-update.json': { table: 'public.plain', position: '0/1576468', at: '2026-11-28T22:00:38.302408Z' },
};

describe('records that Debezium wrote', () => {
  it.each(readdirSync(FOLDER))('are read: %s', (file) => {
    const { change, key, value } = exampleOf(file);
    const read = readDebezium({ key: encode(key), value: encode(value) }, 'bus');
    expect(read.kind === 'change' && read.read.change).toEqual({
      ...change,
      source: expect.objectContaining(POSITIONS[file] ?? {}) as object,
    });
  });
});
