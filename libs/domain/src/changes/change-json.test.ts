import fc from 'fast-check';
import type { Json } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { CHANGE_LIMITS } from '../events/limits.ts';
import { readChange, writeChange } from './change-json.ts';
import type { Change } from './change.ts';

const SOURCE = {
  integration: 'shop-db',
  table: 'public.orders',
  tx: 728,
  position: '0/1948580:3',
  at: '2026-11-28T06:30:00.123456Z',
};
const UPDATE: Change = {
  op: 'update',
  event: { id: 1, status: 'paid', total: 12.5 },
  previous: { id: 1, status: 'open', total: 12.5 },
  unknown: ['notes'],
  source: SOURCE,
};

const textOf = (change: Change): string => new TextDecoder().decode(writeChange(change));
const read = (text: string) => readChange(new TextEncoder().encode(text));

/** Names that the reader of events takes. */
const name = fc
  .string({ unit: 'grapheme' })
  .filter((text) => text.isWellFormed() && text !== '__proto__' && text !== 'constructor');
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.integer({ min: 53, max: 1023 }).map((exponent) => 2 ** exponent),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }).chain((digits) => fc.constantFrom(digits, -digits)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
})).value;
const row = fc.dictionary(name, value, { maxKeys: 6, noNullPrototype: false });
const previousOf = (op: Change['op']) => (op === 'update' ? fc.option(row, { nil: undefined }) : fc.constant(null));
const anyChange: fc.Arbitrary<Change> = fc
  .constantFrom<Change['op']>('create', 'update', 'delete', 'snapshot')
  .chain((op) => fc.tuple(fc.constant(op), row, previousOf(op), fc.uniqueArray(name, { maxLength: 3 })))
  .map(([op, event, before, unknown]) => {
    const previous = op === 'delete' ? event : before;
    return { op, event, ...(previous !== undefined && { previous }), unknown, source: SOURCE };
  });

describe('the JSON of a database change, as it is stored on the log', () => {
  it('has the field names that rules use', () => {
    expect(textOf(UPDATE)).toBe(
      '{"op":"update","event":{"id":1,"status":"paid","total":12.5},"previous":{"id":1,"status":"open","total":12.5},' +
        '"unknown":["notes"],"source":{"integration":"shop-db","table":"public.orders","tx":728,' +
        '"position":"0/1948580:3","at":"2026-11-28T06:30:00.123456Z"}}',
    );
  });

  it('is read back unchanged, with every number exact', () => {
    fc.assert(
      fc.property(anyChange, (change) => {
        const found = readChange(writeChange(change));
        expect(found).toEqual({ ok: true, value: change });
      }),
    );
  });

  it('keeps whole numbers of 64 bits and large floating-point numbers apart', () => {
    const event = { id: 9_223_372_036_854_775_807n, weight: 1e19 };
    expect(textOf({ ...UPDATE, event })).toContain('{"id":9223372036854775807,"weight":1e+19}');
  });

  it('holds the row of a delete once', () => {
    const text = textOf({ ...UPDATE, op: 'delete' });
    expect(text).not.toContain('previous');
    expect(read(text)).toMatchObject({ ok: true, value: { op: 'delete', previous: UPDATE.event } });
  });

  it('leaves out the row before an update if that row is unknown', () => {
    const { previous: _, ...change } = UPDATE;
    expect(read(textOf(change))).toEqual({ ok: true, value: change });
  });

  const create = textOf({ ...UPDATE, op: 'create', previous: null });
  it.each([
    ['another op', create.replace('"create"', '"upsert"'), 'op is not'],
    ['no row', create.replace(/"event":\{.*?\}/, '"event":null'), 'event is not an object'],
    ['a row before a create', create.replace('"previous":null', '"previous":{}'), 'previous is not null on create'],
    ['a row before that is text', textOf(UPDATE).replace(/"previous":\{.*?\}/, '"previous":"x"'), 'not an object'],
    ['names that are no text', create.replace('["notes"]', '[1]'), 'unknown is not'],
    ['no source', create.replace('"source"', '"origin"'), 'source lacks'],
    ['a commit time that is no time', create.replace('2026-11', '2026-13'), 'source lacks'],
  ])('is refused with %s', (_, text, detail) => {
    const found = read(text);
    if (found.ok) throw new Error('the change was read');
    expect(found.error.code).toBe('invalid_change');
    expect(found.error.detail).toContain(detail);
  });

  it('is refused if it is too large, too deep, or has a name that events may not have', () => {
    const deep = `{"a":${'['.repeat(31)}${']'.repeat(31)}}`;
    const codeOf = (event: string) => read(create.replace(/\{"id":1[^}]*\}/, event));
    expect(codeOf(deep)).toMatchObject({ ok: false, error: { code: 'too_deep' } });
    expect(codeOf('{"constructor":1}')).toMatchObject({ ok: false, error: { code: 'forbidden_key' } });
    expect(readChange(new Uint8Array(CHANGE_LIMITS.bytes + 1))).toMatchObject({
      ok: false,
      error: { code: 'body_too_large' },
    });
  });
});
