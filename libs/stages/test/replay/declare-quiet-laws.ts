import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runToCompletion, type LogId } from '@carillon/kernel';
import type { LogRecord } from '@carillon/ports';
import {
  configurationOf,
  givenIds,
  givenRuleBook,
  MORNING,
  notification,
  ORDERS,
  stream,
  template,
} from '@carillon/testing/given';
import { compareEventCoroutine, findQuietEvents, readSourceRecord, type CompareContext } from '../../src/index.ts';

export const LOG = 'log_1' as LogId;
export const book = givenRuleBook();

const anyField = fc.constantFrom(
  'event.status',
  'event.total',
  'event.note',
  'event.customer.id',
  'event["größe"]',
  'event.?status.orValue("none")',
  'event.?customer.?id.orValue(0)',
  'event.items[0]',
  'event[event.note]',
  'event_id',
);
const anyLiteral = fc.constantFrom(
  '"paid"',
  '"kälte 鐘"',
  String.raw`"a\"b"`,
  '""',
  '5',
  '5.0',
  '-0.0',
  'true',
  'null',
);
/** Conditions that are true or false for most events, and conditions that fail for most. */
const usual = fc.constantFrom(
  'event.status == "paid"',
  'event.status != "open"',
  'event.total > 5.0',
  'event.total <= 4',
  'event["größe"] == "kälte 鐘"',
  'event.status == "paid" && event.total > 5.0',
  'event.total > 5 || event.note == "status"',
  'has(event.customer.status)',
  '!has(event.total)',
  'event.status in ["paid", "kälte 鐘"]',
  'event.note.contains("ai")',
  'event.status.matches("^p")',
  'event.?customer.?id.orValue(0) == 5',
  'event.items.exists(item, item == "paid")',
);
const unusual = fc.oneof(
  fc
    .tuple(anyField, fc.constantFrom('==', '!=', '>', '<='), anyLiteral)
    .map(([field, sign, literal]) => `${field} ${sign} ${literal}`),
  fc.constantFrom(
    '"status" in event',
    'size(event) > 2',
    'event.exists(name, name == "note")',
    'timestamp(event.note) < time',
    'previous.status == "paid"',
    'changed(event.status)',
    'no_such_name',
  ),
);
const anyCondition = fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: unusual });
const anyExpression = fc.oneof(
  { weight: 3, arbitrary: anyCondition },
  anyCondition.map((condition) => `!(${condition})`),
  fc
    .tuple(anyCondition, fc.constantFrom('&&', '||'), anyCondition)
    .map(([left, sign, right]) => `(${left}) ${sign} (${right})`),
);

/** A text as JSON: as it is, or with one of its characters escaped. */
const asJson = (text: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 40, arbitrary: fc.constant(JSON.stringify(text)) },
    {
      weight: 1,
      arbitrary: fc.nat({ max: Math.max(0, text.length - 1) }).map((at) => {
        const unit = text.charCodeAt(at) || 0x61;
        return `"${text.slice(0, at)}\\u${unit.toString(16).padStart(4, '0')}${text.slice(at + 1)}"`;
      }),
    },
  );
const anySpace = fc.oneof({ weight: 6, arbitrary: fc.constant('') }, fc.constantFrom(' ', '\n', '\t ', '\r\n  '));
const anyText = fc.constantFrom('paid', 'open', 'paid', 'open', 'kälte 鐘', 'a"b', '', 'status', '🔔').chain(asJson);
const anyScalar = fc.oneof(
  { weight: 3, arbitrary: anyText },
  fc.constantFrom('5', '5.0', '-0', '7e2', '12345678901234567', 'true', 'false', 'null', '05', 'paid'),
);
/** An object of these members, one now and then missing or repeated. */
const objectOf = (members: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...Object.entries(members).map(([name, value]) =>
        fc
          .tuple(asJson(name), anySpace, value, anySpace, fc.integer({ min: 0, max: 9 }))
          .map(([key, before, of, after, kind]) => {
            const member = `${key}${before}:${of}${after}`;
            return kind === 0
              ? []
              : kind === 1 && name !== 'items'
                ? [member, member].slice(0, 1 + (of.length % 2))
                : [member];
          }),
      ),
    )
    .map((all) => `{${all.flat().join(',')}}`);
const anyNumber = fc.constantFrom('5', '5.0', '-0', '4.5', '6', '7e2', '12345678901234567');
const sometimesOther = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: anyScalar });
const anyBody = objectOf({
  status: sometimesOther(anyText),
  total: sometimesOther(anyNumber),
  note: sometimesOther(anyText),
  customer: sometimesOther(objectOf({ id: anyScalar, status: anyText })),
  größe: sometimesOther(anyText),
  items: sometimesOther(fc.array(anyScalar, { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`)),
});
/** Headers that a record lacks or has otherwise. */
const anyHeaders = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  fc.constantFrom<Record<string, string>>(
    { enc: '1' },
    { event_id: '' },
    { workspace: '' },
    { time: 'noon' },
    { key: '%' },
    { shape: 'change' },
    { kind: 'erased' },
  ),
);

/** The record of an event. */
export const recordOf = (body: string, headers: Record<string, string> = {}): LogRecord => ({
  topic: 'carillon.events',
  partition: 0,
  offset: 1,
  time: MORNING,
  key: 'key',
  value: new TextEncoder().encode(body),
  headers: { kind: 'event', enc: '0', event_id: 'evt_1', workspace: 'shop', stream: 'shop/orders', ...headers },
});

/** Where the bytes of an event end too early, if at all. */
const anyCut = fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() });
const anyRecord = fc.tuple(anyBody, anyCut, anyHeaders).map(([body, cut, headers]): LogRecord => {
  const record = recordOf(body, headers);
  return cut === null ? record : { ...record, value: record.value.slice(0, cut % record.value.length) };
});

/** A shop with one rule. */
export const shopOf = (when: string) =>
  configurationOf([
    stream('orders', ORDERS),
    template('order', { email: { subject: 'Order', text: 'Hello' } }),
    notification('order', {
      channels: { email: { template: 'order' } },
      rules: {
        paid: {
          stream: 'orders',
          when,
          recipients: { from: 'event', to: { email: '"ada@example.com"' }, unique_id: 'event_id' },
        },
      },
    }),
  ]);

/** What a comparison makes of a record that it reads whole. */
function compareWhole(record: LogRecord, context: CompareContext) {
  const read = readSourceRecord(record, LOG);
  if (!read.ok || read.value.kind !== 'event') return { unreadable: true };
  return runToCompletion(compareEventCoroutine(read.value.event, context));
}

const QUIET = {
  lines: [],
  needsLookup: false,
  lookups: [],
  noAddress: { before: 0, after: 0 },
  ruleErrors: { before: 0, after: 0 },
};

/** Declares the law of the events that a comparison passes over, tried with `numRuns` random edits of a condition. */
export function declareQuietLaws(numRuns: number): void {
  describe('a comparison that reads only the fields of conditions, to be fast', () => {
    it('skips no event that is unreadable, or for which a rule fires or fails under either configuration', () => {
      const seen = { quiet: 0, whole: 0 };
      fc.assert(
        fc.property(
          anyExpression,
          anyExpression,
          fc.array(anyRecord, { minLength: 4, maxLength: 8 }),
          (before, after, records) => {
            const configurations = { before: shopOf(before), after: shopOf(after) };
            const context = { configurations, book, ids: givenIds, findAnswer: () => undefined };
            const isQuiet = findQuietEvents(context, LOG);
            for (const record of records) {
              const whole = compareWhole(record, context);
              seen[isQuiet(record) ? 'quiet' : 'whole'] += 1;
              if (isQuiet(record)) expect(whole).toEqual(QUIET);
            }
          },
        ),
        { numRuns },
      );
      expect(Math.min(seen.quiet, seen.whole), JSON.stringify(seen)).toBeGreaterThan(numRuns / 20);
    });
  });
}
