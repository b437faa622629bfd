import type { SourcePosition } from '@carillon/domain/changes';
import { describe, expect, it } from 'vitest';
import { ChangeReader } from '../src/reading/change-reader.ts';
import { ValueReaders } from '../src/values/read-value.ts';
import { begin, commit, insert, relation } from './support/pgoutput-messages.ts';

const FROM: SourcePosition = {
  kind: 'postgres',
  systemId: '7301234567890123456',
  timeline: 1,
  slot: 'carillon_1',
  publication: 'carillon_1',
  publicationOid: 16_400,
  lsn: '0/100',
  partial: null,
  at: 1000,
};
const readerFrom = (from: Partial<SourcePosition> = {}): ChangeReader =>
  new ChangeReader({
    integration: 'shop-db',
    tables: new Set(['public.orders']),
    from: { ...FROM, ...from },
    values: new ValueReaders(() => Promise.resolve([])),
  });
const ORDERS = relation(7, 'public', 'orders', [['id', 23]]);

describe('ChangeReader', () => {
  it('hands over a row that it cannot read, with table and position, and continues behind it', async () => {
    const reader = readerFrom();
    await reader.read(begin(0x200n, 728));
    await reader.read(ORDERS);
    const damaged = insert(7, '1');
    damaged[damaged.length - 6] = 'x'.charCodeAt(0);
    expect(await reader.read(damaged)).toMatchObject({
      source: { table: 'public.orders', position: '0/200:1', tx: 728 },
      identity: [FROM.systemId, '0/200', expect.any(String), '1'],
      error: expect.any(Error) as Error,
    });
    expect(reader.position.partial).toEqual({ commitLsn: '0/200', changes: 1 });
    expect(await reader.read(insert(7, '2'))).toMatchObject({
      change: { op: 'create', event: { id: 2 }, source: { position: '0/200:2' } },
    });
    await reader.read(commit(0x200n, 0x300n));
    expect(reader.position).toMatchObject({ lsn: '0/300', partial: null });
  });

  it('rejects a row of a table that was not announced', async () => {
    const reader = readerFrom();
    await reader.read(begin(0x200n, 728));
    await expect(reader.read(insert(8, '1'))).rejects.toThrow();
  });
});
