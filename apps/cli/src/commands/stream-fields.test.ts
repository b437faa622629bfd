import { describe, expect, it } from 'vitest';
import type { Client } from '../client.ts';
import { CommandError } from '../failure.ts';
import { readFields, showFields } from './stream-fields.ts';

const FIELDS = '/v1/workspaces/-/streams/shop%2Frows/fields';
const TABLES = '/v1/workspaces/shop/integrations/shop-db/tables';
const source = { integration: 'shop-db', tables: [{ table: 'public.orders', key: 'event.id', without: ['card'] }] };
const table = (name: string) => ({
  table: name,
  columns: [
    { name: 'id', type: 'bigint', key: true },
    { name: 'status', type: 'text', key: false },
    { name: 'card', type: 'text', key: false },
  ],
});

/** A client that gets these answers by path. An error is thrown. */
const clientWith = (answers: Readonly<Record<string, unknown>>): Client =>
  ({
    reach: '-',
    get: (path: string) => {
      const answer = answers[path];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  }) as unknown as Client;
const textOf = async (answers: Readonly<Record<string, unknown>>): Promise<string> =>
  showFields(await readFields(clientWith(answers), 'shop/rows'));

describe('events fields', () => {
  it('shows the columns of the listed tables that events will have before the first change', async () => {
    const text = await textOf({
      [FIELDS]: { stream: 'shop/rows', source, items: [], next: null },
      [TABLES]: { items: [table('public.orders'), table('public.people')], next: null, problem: null },
    });
    expect(text).toContain('no event has arrived yet');
    expect(text).toMatch(/id +bigint +key +public\.orders/);
    expect(text).toMatch(/status +text +public\.orders/);
    expect(text).not.toContain('people');
    expect(text).not.toContain('card');
  });

  it('says why the columns are not known', async () => {
    const empty = { stream: 'shop/rows', source, items: [], next: null };
    const problem = { reason: 'unreachable', sentence: 'The database does not answer.', fix: null };
    expect(await textOf({ [FIELDS]: empty, [TABLES]: { items: [], next: null, problem } })).toContain(
      'does not answer',
    );
    const status = 403;
    const forbidden = new CommandError('no', { status } as ConstructorParameters<typeof CommandError>[1]);
    expect(await textOf({ [FIELDS]: empty, [TABLES]: forbidden })).toContain('who may configure the workspace');
  });

  it('shows the tables of fields that were seen', async () => {
    const seen = { types: ['string'], sample: '"paid"', first_seen: '2026-11-28T06:30:00.000Z', count: 2 };
    const field = { ...seen, path: 'status', last_seen: '2026-11-28T06:30:00.000Z', tables: ['public.orders'] };
    const text = await textOf({ [FIELDS]: { stream: 'shop/rows', source, items: [field], next: null } });
    expect(text).toMatch(/tables/);
    expect(text).toMatch(/status +string +2 .*"paid" +public\.orders/);
  });
});
