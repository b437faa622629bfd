import type { TableReading } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { positionAt } from './scripted-sources.ts';
import { readAfterReset, readTables } from '../../src/sources/read-tables.ts';

const ORDERS: TableReading = { table: 'public.orders', since: null, problem: null };
const NO_KEY: TableReading = { ...ORDERS, problem: { reason: 'no_identity', detail: null, fix: null } };
/** Reports follow each other every 10 ms, from 110 on. */
function report(readings: readonly TableReading[], areTopics = false): TableReading {
  const stored: TableReading = { ...ORDERS, since: 50 };
  return readings.reduce((before, reading, index) => {
    const reportedAt = 100 + index * 10;
    const [table] = readTables([reading], { tables: [before], reportedAt, now: reportedAt + 10, areTopics });
    return table ?? before;
  }, stored);
}

describe('readTables', () => {
  it('keeps since when a table is read that was published before the reader opened', () => {
    expect(report([ORDERS, { ...ORDERS, entry: '7' }, { ...ORDERS, entry: '7' }])).toEqual({
      ...ORDERS,
      since: 50,
      entry: '7',
    });
    expect(readTables([{ ...ORDERS, since: 5 }], { tables: [], reportedAt: 1, now: 9, areTopics: false })).toEqual([
      { ...ORDERS, since: 5 },
    ]);
  });

  it('dates a table that a person published from the report that finds it, and closes its gap', () => {
    const entered = { ...ORDERS, entry: '7' };
    const refused: TableReading = { ...ORDERS, problem: { reason: 'not_published', detail: null, fix: null } };
    const known = { reportedAt: 1, now: 9, areTopics: false };
    expect(readTables([entered], { ...known, tables: [] })).toEqual([{ ...entered, since: 9 }]);
    expect(readTables([entered], { ...known, tables: [refused] })).toEqual([{ ...entered, since: 9 }]);
    expect(report([ORDERS, refused, entered, entered])).toEqual({
      ...entered,
      since: 130,
      gap: { from: 110, to: 130 },
    });
  });

  it('keeps the span in which a table was not read, from the last report before it', () => {
    expect(report([ORDERS, NO_KEY, NO_KEY])).toEqual({ ...NO_KEY, gap: { from: 110, to: null } });
    const again = { ...ORDERS, since: 133 };
    expect(report([ORDERS, NO_KEY, NO_KEY, again])).toEqual({ ...again, gap: { from: 110, to: 133 } });
    expect(report([ORDERS, NO_KEY, NO_KEY, again, { ...ORDERS, entry: '8' }, ORDERS])).toMatchObject({
      since: 133,
      gap: { from: 110, to: 133 },
    });
  });

  it('begins the span of two gaps at the first', () => {
    const again = { ...ORDERS, since: 133 };
    expect(report([ORDERS, NO_KEY, again, NO_KEY])).toMatchObject({ gap: { from: 110, to: null } });
  });

  it('shows no gap of a topic, which continues at its own position', () => {
    const refused: TableReading = { ...ORDERS, problem: { reason: 'no_topic', detail: null, fix: null } };
    expect(report([refused, ORDERS], true)).toEqual({ ...ORDERS, since: 50 });
  });

  it('notices a table that left the publication and entered it again between two reports', () => {
    const [before, after] = [
      { ...ORDERS, entry: '7' },
      { ...ORDERS, entry: '8' },
    ];
    const expected = { ...after, since: 120, gap: { from: 110, to: 120 } };
    expect(report([before, after])).toEqual(expected);
    // The reader still reports since when it read the first entry.
    expect(report([before, after, { ...after, since: 50 }])).toEqual(expected);
    expect(report([before, { ...ORDERS, since: 115 }, after])).toEqual({
      ...after,
      since: 115,
      gap: { from: 110, to: 115 },
    });
  });
});

describe('readAfterReset', () => {
  it('reads since the new position, and forgets the gap that the audit has', () => {
    const stored = { ...ORDERS, since: 50, entry: '7', gap: { from: 10, to: 50 } };
    const [from, to] = [positionAt('0/100', 1000), positionAt('0/900', 9000)];
    expect(readAfterReset([stored], from, to)).toEqual([{ ...ORDERS, since: 9000 }]);
  });
});
