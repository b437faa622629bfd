import type { PostgresPosition } from '@carillon/domain/changes';
import { describe, expect, it } from 'vitest';
import { ChangeReader } from '../src/reading/change-reader.ts';
import { ValueReaders } from '../src/values/read-value.ts';
import { begin, commit, insert, relation } from './support/pgoutput-messages.ts';

const FROM: PostgresPosition = {
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
const readerFrom = (from: Partial<PostgresPosition> = {}): ChangeReader =>
  new ChangeReader({
    integration: 'shop-db',
    tables: new Set(['public.orders']),
    from: { ...FROM, ...from },
    values: new ValueReaders(() => Promise.resolve([])),
  });
const ORDERS = relation(7, 'public', 'orders', [['id', 23]]);

describe('ChangeReader (reads the replication stream of PostgreSQL)', () => {
  it('passes on a row that it cannot read, with table and position, and continues after it', async () => {
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

  /** Milliseconds since 1970 of the messages' commit time. */
  const COMMITTED = 946_684_800_000 + 800_000_000_000;
  const readAll = async (reader: ChangeReader, ...messages: readonly Buffer[]): Promise<readonly unknown[]> => {
    const changes: unknown[] = [];
    for (const message of messages) changes.push(await reader.read(message));
    return changes.filter((read) => read !== null);
  };

  it('skips repeated transactions, and continues after the stored position', async () => {
    const reader = readerFrom({ lsn: '0/300', at: COMMITTED });
    const again = [begin(0x200n, 1), ORDERS, insert(7, '1'), commit(0x200n, 0x300n)];
    expect(await readAll(reader, ...again)).toEqual([]);
    expect(reader.position).toMatchObject({ lsn: '0/300', at: COMMITTED });
    // Its commit begins where the one before ends.
    const next = [begin(0x300n, 2), insert(7, '2'), commit(0x300n, 0x400n)];
    expect(await readAll(reader, ...next)).toMatchObject([{ change: { event: { id: 2 } } }]);
    expect(reader.position.lsn).toBe('0/400');
  });

  it('stops at a transaction before the stored position that was committed later, because the database was restored', async () => {
    const wentBack = { failure: { kind: 'stopped', reason: 'went_back' } };
    const whole = readerFrom({ lsn: '0/300', at: COMMITTED - 1 });
    await expect(whole.read(begin(0x200n, 1))).rejects.toMatchObject(wentBack);
    const partial = readerFrom({ lsn: '0/100', partial: { commitLsn: '0/200', changes: 1 }, at: COMMITTED - 1 });
    await expect(partial.read(begin(0x200n, 1))).rejects.toMatchObject(wentBack);
    expect(await readerFrom({ lsn: '0/200', at: COMMITTED - 1 }).read(begin(0x200n, 1))).toBeNull();
  });

  it('stops if the server does not resend a transaction of which only part is on the log', async () => {
    const from = { lsn: '0/100', partial: { commitLsn: '0/200', changes: 1 }, at: COMMITTED };
    const reader = readerFrom(from);
    reader.advance(0x200n, null);
    expect(reader.position).toMatchObject(from);
    expect(() => reader.advance(0x201n, null)).toThrow('The transaction at 0/200 does not come again.');
    await expect(readerFrom(from).read(begin(0x300n, 1))).rejects.toThrow('does not come again');
    expect(await readAll(readerFrom(from), begin(0x200n, 1), ORDERS, insert(7, '1'), insert(7, '2'))).toMatchObject([
      { change: { event: { id: 2 } } },
    ]);
  });

  it('rejects a row of a table that was not announced', async () => {
    const reader = readerFrom();
    await reader.read(begin(0x200n, 728));
    await expect(reader.read(insert(8, '1'))).rejects.toThrow();
  });
});
