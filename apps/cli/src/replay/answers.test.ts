import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import type { EventId } from '@carillon/kernel';
import type { HistoryPage, LogRecord, OffsetRange } from '@carillon/ports';
import type { CompareContext } from '@carillon/stages';
import { describe, expect, it } from 'vitest';
import { findRecordedAnswer, recordAnswers, type LookupPosition } from './answers.ts';
import type { CompareParts } from './compare-parts.ts';

const RECORDS = 1_200;

/** A run over a log whose lookups belong to other rules. `pages` counts what the pace is told. */
function openParts() {
  const record = (offset: number): LogRecord => ({
    topic: 'carillon.lookups',
    partition: 0,
    offset,
    time: offset,
    key: 'k',
    headers: {},
    value: new Uint8Array(),
  });
  const records = Array.from({ length: RECORDS }, (_, offset) => record(offset));
  const seen = { pages: 0, read: [] as number[] };
  const parts = {
    run: { from: 0, createdAt: RECORDS },
    history: {
      partitions: () => 1,
      bounds: async () => ({ start: 0, end: RECORDS }),
      read: async (_topic: string, _partition: number, from: number) => records.slice(from, from + 1),
      async *pages({ from, end }: OffsetRange, maxRecords: number): AsyncGenerator<HistoryPage> {
        for (let first = from; first < end; first += maxRecords) {
          seen.read.push(first);
          const next = Math.min(end, first + maxRecords);
          yield { records: records.slice(first, next), next, removed: 0 };
        }
      },
    },
    scratch: { answer: () => undefined, commit: () => undefined },
    lookups: { decode: () => ({ ok: false, error: { reason: 'malformed' } }) },
    pace: { afterPage: async () => void (seen.pages += 1) },
    comparing: {
      configurations: { before: EMPTY_CONFIGURATION, after: EMPTY_CONFIGURATION },
      book: { rulesOf: () => [] } as unknown as CompareContext['book'],
    },
  } as unknown as CompareParts;
  return { parts, seen };
}

describe('The copy of recorded lookups', () => {
  it('gives way after each page, and continues at its checkpoint', async () => {
    const { parts, seen } = openParts();
    const positions: LookupPosition[] = [];
    const begun = { partition: 0, from: 0 };
    await recordAnswers(parts, begun, (position) => String(positions.push(position)));
    expect(seen).toEqual({ pages: 3, read: [0, 500, 1_000] });
    expect(positions.map(({ from }) => from)).toEqual([500, 1_000, RECORDS]);
    const resumed = openParts();
    await recordAnswers(resumed.parts, { partition: 0, from: 500 }, () => '');
    expect(resumed.seen.read).toEqual([500, 1_000]);
  });
});

describe('A recorded answer', () => {
  it('is found by rule, event and part only', () => {
    const known = JSON.stringify(['rul_1', 'evt_1', 0]);
    const find = findRecordedAnswer({ answer: (key) => (key === known ? '{"at":1}' : undefined) });
    expect(find('rul_1', 'evt_1' as EventId, 0)).toEqual({ at: 1 });
    expect(find('rul_1', 'evt_2' as EventId, 0)).toBeUndefined();
    expect(find('rul_2', 'evt_1' as EventId, 0)).toBeUndefined();
    expect(find('rul_1', 'evt_1' as EventId, 1)).toBeUndefined();
  });
});
