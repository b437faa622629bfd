import type { Change } from '@carillon/domain/changes';
import type { JsonObject } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { summarizeChange } from '../../src/index.ts';

const source = { integration: 'shop-db', table: 'public.orders', tx: 7, position: '0/1:0', at: '2026-11-28T06:30:00Z' };
const update = (previous: JsonObject | undefined, event: JsonObject, unknown: readonly string[] = []): Change => ({
  op: 'update',
  event,
  ...(previous && { previous }),
  unknown,
  source,
});

describe('the changed fields of an update', () => {
  it.each<[string, JsonObject, JsonObject, object]>([
    ['a value', { id: 1, status: 'open' }, { id: 1, status: 'paid' }, [['status', '"open"', '"paid"']]],
    ['a number of another type', { total: 1 }, { total: '1' }, [['total', '1', '"1"']]],
    ['a long integer', { id: 2n ** 60n }, { id: 2n ** 60n + 1n }, [['id', `${2n ** 60n}`, `${2n ** 60n + 1n}`]]],
    ['a field that came', {}, { note: null }, [['note', null, 'null']]],
    ['a field that went', { note: '' }, {}, [['note', '""', null]]],
    ['an entry of a list', { tags: ['a'] }, { tags: ['b'] }, [['tags', '["a"]', '["b"]']]],
    ['a name of an object', { meta: { a: 1 } }, { meta: { b: 1 } }, [['meta', '{"a":1}', '{"b":1}']]],
  ])('show %s', (_, before, after, fields) => {
    expect(summarizeChange(update(before, after)).fields.map(Object.values)).toEqual(fields);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['1 and 1.0', { total: 1 }, { total: 1.0 }],
    ['objects with another order of names', { meta: { a: 1, b: [{}] } }, { meta: { b: [{}], a: 1 } }],
  ])('leave out %s', (_, before, after) => {
    expect(summarizeChange(update(before, after)).fields).toEqual([]);
  });

  it('leave out fields whose values are unknown, and name them', () => {
    const summary = summarizeChange(update({ notes: 'long', id: 1 }, { id: 1 }, ['notes']));
    expect(summary).toMatchObject({ fields: [], unknown: ['notes'], beforeKnown: true });
  });

  it('are none if the database did not send the row before', () => {
    expect(summarizeChange(update(undefined, { status: 'paid' }))).toMatchObject({ fields: [], beforeKnown: false });
  });

  it('are cut after 20 fields and 60 characters', () => {
    const row = (value: string): JsonObject =>
      Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`f${at}`, value]));
    const { fields, more } = summarizeChange(update(row('a'), row('b'.repeat(100))));
    expect([fields.length, more, fields[0]?.after?.length]).toEqual([20, 5, 61]);
  });
});

describe('a created and a deleted row', () => {
  it('have no changed fields', () => {
    const event = { id: 1 };
    expect(summarizeChange({ op: 'create', event, previous: null, unknown: [], source }).fields).toEqual([]);
    expect(summarizeChange({ op: 'delete', event, previous: event, unknown: [], source }).fields).toEqual([]);
  });
});
