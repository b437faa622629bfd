import { EVENT_LIMITS } from '@carillon/domain/events';
import { describe, expect, it } from 'vitest';
import { findQuietEvents } from '../../src/index.ts';
import { book, LOG, recordOf, shopOf } from './declare-quiet-laws.ts';

const isQuiet = (when: string, body: string, headers: Record<string, string> = {}): boolean =>
  findQuietEvents(
    { book, configurations: { before: shopOf(when), after: shopOf('false') } },
    LOG,
  )(recordOf(body, headers));
const OPEN = '{"status": "open", "total": 4}';

describe('a fast comparison, which reads only the fields of conditions', () => {
  it.each([
    ['its condition is false', 'event.status == "paid"', OPEN],
    ['a part that is false hides one that fails', 'event.status == "paid" && event.missing > 1', OPEN],
    ['other fields are in another alphabet', 'event.status == "paid"', '{"größe": "鐘", "status": "open"}'],
  ])('skips an event without parsing it whole if %s', (_why, when, body) => {
    expect(isQuiet(when, body)).toBe(true);
  });

  it.each([
    ['its condition is true', 'event.status == "open"', OPEN],
    ['its condition fails', 'event.missing == "paid"', OPEN],
    [
      'its condition takes too many steps',
      'event.status.matches("(a?){99}$") && event.total < 0',
      `{"total": 4, "status": "${'a'.repeat(8_000)}"}`,
    ],
    ['its condition uses the whole event', 'size(event) > 2', OPEN],
    ['its rule cannot be compiled', 'no_such_name', OPEN],
    ['a field is escaped', 'event.status == "paid"', String.raw`{"status": "p\u0061id"}`],
    ['a name is escaped', 'event.?status.orValue("") == "paid"', String.raw`{"st\u0061tus": "paid"}`],
    ['a field has the same name', 'event.status == "paid"', '{"status": "open", "status": "open"}'],
    ['it is cut off', 'event.status == "paid"', '{"status": "open"'],
    ['it is no object', 'event.status == "paid"', '["status"]'],
    ['it is too large', 'event.status == "paid"', `{"status": "open", "text": "${'x'.repeat(EVENT_LIMITS.bytes)}"}`],
  ])('parses an event whole if %s', (_why, when, body) => {
    expect(isQuiet(when, body)).toBe(false);
  });

  it.each([
    { enc: '1' },
    { event_id: '' },
    { workspace: '' },
    { time: 'noon' },
    { key: '%' },
    { shape: 'change' },
    { kind: 'erased' },
  ])('parses an event whole if its headers are unusual: %o', (headers) => {
    expect(isQuiet('event.status == "paid"', OPEN, headers)).toBe(false);
  });
});
