import { visibleChange, type Change } from '@carillon/domain/changes';
import type { Bindings } from '@carillon/domain/rules';
import { StepBudget } from '@carillon/domain/rules';
import type { Json, JsonObject } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressionLanguage } from '../src/index.ts';
import { compiled, errorOf, evaluate, value } from './evaluation.ts';

const SOURCE = {
  integration: 'shop-db',
  table: 'public.orders',
  tx: 728,
  position: '0/1:3',
  at: '2026-11-28T06:30:00Z',
};
const bare = (row: JsonObject): JsonObject => Object.assign(Object.create(null) as JsonObject, row);
const seen = (change: Partial<Change>): Partial<Bindings> => {
  const full: Change = { op: 'update', event: {}, unknown: [], source: SOURCE, ...change };
  const previous = full.previous && bare(full.previous);
  const { event, ...rest } = full;
  return { event: bare(event), ...visibleChange({ ...rest, event, ...(previous && { previous }) }) };
};
const update = (previous: JsonObject | undefined, event: JsonObject, unknown: readonly string[] = []) =>
  seen({ event, unknown, ...(previous && { previous }) });
const created = (op: 'create' | 'snapshot', event: JsonObject) => seen({ op, event, previous: null });

const PAID = update({ id: 1, status: 'open', total: 1 }, { id: 1, status: 'paid', total: 1 });

describe('the names of a database change in an expression', () => {
  it('are the row before, the operation and the source', () => {
    expect(value('previous.status + " " + op + " " + source.table', '{}', PAID)).toBe('open update public.orders');
    expect(value('source', '{}', PAID)).toEqual({
      integration: 'shop-db',
      table: 'public.orders',
      tx: 728,
      position: '0/1:3',
    });
  });

  it('have no fields before a create or a snapshot', () => {
    for (const op of ['create', 'snapshot'] as const) {
      expect(value('has(previous.status)', '{}', created(op, { status: 'open' }))).toBe(false);
      expect(errorOf('previous.status', '{}', created(op, { status: 'open' }))).toBe('no such field: status');
    }
  });

  it('are not set for a plain event', () => {
    expect(errorOf('previous.status')).toBe('previous is not set here');
    expect(errorOf('op == "create"')).toBe('op is not set here');
    expect(errorOf('changed(event.status)')).toBe('changed works only for database changes and on streams with a key');
  });
});

describe('the functions changed, changedTo and changedFromTo', () => {
  it.each([
    ['changed(event.status)', true],
    ['changed(event.total)', false],
    ['changed(event.other)', false],
    ['changedTo(event.status, "paid")', true],
    ['changedTo(event.status, "open")', false],
    ['changedTo(event.total, 1)', false],
    ['changedFromTo(event.status, "open", "paid")', true],
    ['changedFromTo(event.status, "new", "paid")', false],
    ['changedFromTo(event["status"], previous.status, "pa" + "id")', true],
    ['!changed(event.status) || op == "delete"', false],
  ])('evaluate %s to %s', (source, expected) => {
    expect(value(source, '{}', PAID)).toBe(expected);
  });

  it('compare as JSON: numbers by value, lists in order, objects by their fields', () => {
    const before = { n: 1, list: [1, 2], object: { a: 1, b: null } };
    expect(value('changed(event.n)', '{}', update(before, { n: 1.0 }))).toBe(false);
    expect(value('changed(event.n)', '{}', update({ n: 2 ** 60 }, { n: 2n ** 60n }))).toBe(false);
    expect(value('changed(event.list)', '{}', update(before, { list: [2, 1] }))).toBe(true);
    expect(value('changed(event.object)', '{}', update(before, { object: { b: null, a: 1 } }))).toBe(false);
    expect(value('changed(event.object.b)', '{}', update(before, { object: { a: 1 } }))).toBe(true);
  });

  it('count a field that only one of the rows has as changed', () => {
    expect(value('changed(event.a)', '{}', update({}, { a: null }))).toBe(true);
    expect(value('changed(event.a)', '{}', update({ a: null }, {}))).toBe(true);
    expect(value('changedTo(event.a, 1)', '{}', update({}, { a: 1 }))).toBe(true);
    expect(value('changedFromTo(event.a, null, 1)', '{}', update({}, { a: 1 }))).toBe(false);
  });

  it('are false for a create, a snapshot and a delete', () => {
    const row = { status: 'paid' };
    const others = [
      created('create', row),
      created('snapshot', row),
      seen({ op: 'delete', event: row, previous: row }),
    ];
    for (const bindings of others) {
      expect(value('changed(event.status)', '{}', bindings)).toBe(false);
      expect(value('changedTo(event.status, "paid")', '{}', bindings)).toBe(false);
      expect(value('changedFromTo(event.status, null, "paid")', '{}', bindings)).toBe(false);
    }
  });

  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom<Json>(null, true, false, 0, 1, 1.5, 1n, 2n ** 60n, 2 ** 60, '', 'a', 'b'),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('x', 'y'), tie('value')),
    ),
  })).value;
  const row = fc.dictionary(fc.constantFrom('a', 'b'), json);

  it('agree with a plain comparison of two objects', () => {
    const expressions = [
      ['changed(event.a)', (now: JsonObject, before: JsonObject) => !sameField(now, before)],
      ['changed(event.a.x)', (now: JsonObject, before: JsonObject) => !same(at(now['a']), at(before['a']))],
      ['changedTo(event.a, "a")', (now: JsonObject, before: JsonObject) => now['a'] === 'a' && !sameField(now, before)],
      [
        'changedFromTo(event.a, "b", "a")',
        (now: JsonObject, before: JsonObject) => now['a'] === 'a' && before['a'] === 'b',
      ],
      ['changedTo(event.a, event.b)', (now: JsonObject, before: JsonObject) => reached(now, before)],
      [
        'changedFromTo(event.a, previous.b, event.b)',
        (now: JsonObject, before: JsonObject) =>
          reached(now, before) && 'a' in before && same(before['a'], before['b']),
      ],
    ] as const;
    const reached = (now: JsonObject, before: JsonObject) => !sameField(now, before) && same(now['a'], now['b']);
    const both = fc.tuple(row, row).filter((rows) => rows.every((each) => 'b' in each));
    fc.assert(
      fc.property(
        fc.oneof(
          both,
          row.filter((each) => 'b' in each).map((each) => [each, each] as const),
        ),
        (rows) => {
          const [now, before] = rows;
          for (const [source, oracle] of expressions) {
            expect([source, value(source, '{}', update(before, now))]).toEqual([
              source,
              'a' in now || !source.includes('To') ? oracle(now, before) : false,
            ]);
          }
        },
      ),
    );
  });
});

/** Equality of JSON that knows nothing of the language: numbers by value, other things by their text. */
function same(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonical(a) === canonical(b);
}
const sameField = (now: JsonObject, before: JsonObject) => same(now['a'], before['a']);
const at = (of: Json | undefined): Json | undefined =>
  typeof of === 'object' && of !== null && !Array.isArray(of) ? (of as JsonObject)['x'] : undefined;
function canonical(given: Json): string {
  if (typeof given === 'number' && Number.isInteger(given)) return String(BigInt(given));
  if (typeof given === 'string') return JSON.stringify(given);
  if (typeof given !== 'object' || given === null) return String(given);
  if (Array.isArray(given)) return `[${given.map((item) => canonical(item as Json)).join()}]`;
  const fields = Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join()}}`;
}

describe('a value that the database did not send', () => {
  const known = { id: 1, status: 'paid' };
  const noNotes = update({ id: 1, status: 'open' }, known, ['notes']);
  const noRowBefore = update(undefined, known, ['notes']);

  it.each([
    'event.notes',
    'event["no" + "tes"]',
    'event.?notes.orValue("none")',
    'event.notes.length > 1',
    'event.notes == "x"',
    'has(event.notes)',
    '"notes" in event',
    'previous.notes',
    'changed(event.notes)',
    'changedTo(event.notes, "x")',
    'event',
    '[event]',
    'event == previous',
    'size(event) > 1',
    'event.exists(name, name == "notes")',
    'true && event.notes == "x"',
    'event.notes == "x" ? 1 : 2',
  ])('causes an error in %s', (source) => {
    const answer = evaluate(source, '{}', noNotes);
    expect(answer).toMatchObject({ ok: false, reason: 'field_unknown' });
    expect(answer.ok ? '' : answer.error).toBe(
      'field_unknown: notes did not change and was not sent, or has more than 64 KiB. ' +
        'If the value has more than 64 KiB, Carillon never keeps it. Otherwise ' +
        'ALTER TABLE public.orders REPLICA IDENTITY FULL; makes the database send the whole row before each change.',
    );
  });

  it.each(['event.constructor', 'event["__proto__"]', 'has(previous.constructor)', '"__proto__" in previous'])(
    'causes an error in %s, for a column that is never sent',
    (source) => {
      const change = update({ id: 1 }, { id: 1 }, ['constructor', '__proto__']);
      const answer = evaluate(source, '{}', change);
      expect(answer).toMatchObject({ ok: false, reason: 'field_unknown' });
      expect(answer.ok ? '' : answer.error).toContain('Rename the column.');
    },
  );

  it.each([
    'previous',
    'previous.status == "open"',
    'has(previous.status)',
    '"status" in previous',
    'previous == {}',
    'changed(event.status)',
    'changedTo(event.status, "open")',
    'changedFromTo(event.status, "a", "b")',
  ])('causes an error in %s if the row before is missing', (source) => {
    const answer = evaluate(source, '{}', noRowBefore);
    expect(answer).toMatchObject({ ok: false, reason: 'before_unknown' });
    expect(answer.ok ? '' : answer.error).toContain('ALTER TABLE public.orders REPLICA IDENTITY FULL;');
  });

  it('causes no error if the other operand decides', () => {
    for (const bindings of [noNotes, noRowBefore]) {
      expect(value('event.id == 2 && event.notes == "x"', '{}', bindings)).toBe(false);
      expect(value('changed(event.notes) || event.id == 1', '{}', bindings)).toBe(true);
      expect(value('event.id == 1 ? event.status : event.notes', '{}', bindings)).toBe('paid');
    }
  });

  it('leaves every other field readable', () => {
    expect(value('event.status + string(event["id"])', '{}', noNotes)).toBe('paid1');
    expect(value('has(event.status) && "id" in event && !has(event.other)', '{}', noNotes)).toBe(true);
    expect(value('changed(event.status)', '{}', noNotes)).toBe(true);
  });

  it('is readable in the row that has it', () => {
    const onlyBefore = update({ notes: 'short' }, { id: 1 }, ['notes']);
    expect(value('previous.notes', '{}', onlyBefore)).toBe('short');
    expect(evaluate('changed(event.notes)', '{}', onlyBefore)).toMatchObject({ reason: 'field_unknown' });
  });

  it('changes no result that does not need it', () => {
    const expressions = [
      'event.a == 1',
      'event.a == 1 && event.b == 2',
      'event.b == 2 || event.a == 1',
      'has(event.b)',
    ];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 }), fc.constantFrom(...expressions), (a, source) => {
        const withB = (b: Json) => evaluate(source, '{}', update({}, { a, b }));
        const absent = evaluate(source, '{}', update({}, { a }));
        const answers = [withB(2), withB(3), absent].map((answer) => (answer.ok ? answer.value : 'error'));
        const unknown = evaluate(source, '{}', update({}, { a }, ['b']));
        // An answer for an unknown value is the answer for every value.
        if (unknown.ok) expect(new Set(answers)).toEqual(new Set([unknown.value]));
        else expect(new Set(answers).size).toBeGreaterThan(1);
      }),
    );
  });
});

describe('an expression about a change that is refused when it is saved', () => {
  const language = createExpressionLanguage();
  it.each([
    ['changed(event)', '`changed` compares a field of the event', 'write `changed(event.status)`'],
    ['changed(previous.status)', '`changed` compares a field of the event', 'write `changed(event.status)`'],
    ['changed(event.items[0])', '`changed` compares a field of the event', 'write `changed(event.status)`'],
    ['changedTo("paid", event.status)', '`changedTo` compares a field', 'write `changedTo(event.status, "paid")`'],
    ['changedTo(event.status)', '`changedTo` takes 2 arguments', 'write `changedTo(event.status, "paid")`'],
    ['changedFromTo(event.a, 1)', '`changedFromTo` takes 3', 'write `changedFromTo(event.status, "open", "paid")`'],
  ])('%s', (source, message, fix) => {
    const result = language.compile(source, 'when');
    if (result.ok) throw new Error('it was compiled');
    expect(result.error[0]?.message).toContain(message);
    expect(result.error[0]?.fix).toBe(fix);
  });
});

describe('the explanation of an expression with changed', () => {
  const expression = compiled('changedTo(event.status, "paid") && event.total > 0', 'when');

  it('shows both values', () => {
    const explained = expression.explain({ event_id: 'e', time: 0, event: {}, ...PAID });
    expect(
      explained.map(({ source, depth, result }) => [depth, source, result.ok ? result.value : result.error]),
    ).toEqual([
      [0, 'changedTo(event.status, "paid") && event.total > 0', true],
      [1, 'changedTo(event.status, "paid")', true],
      [2, 'event.status', 'paid'],
      [2, 'previous.status', 'open'],
      [1, 'event.total > 0', true],
      [2, 'event.total', 1],
    ]);
    expect(expression.parts()).toHaveLength(explained.length);
  });

  it('names the fields of both rows, with their types', () => {
    expect(expression.fields.map(({ root, path, type }) => `${root}.${path} ${type}`)).toEqual([
      'event.status string',
      'previous.status string',
      'event.total number',
    ]);
  });

  it('uses steps of the computation budget for long values', () => {
    const [few, many] = [new StepBudget(), new StepBudget()];
    const rule = compiled('changed(event.text)', 'when');
    rule.evaluate({ event_id: 'e', time: 0, ...PAID, event: {} }, few);
    rule.evaluate(
      { event_id: 'e', time: 0, event: {}, ...update({ text: 'x'.repeat(50_000) }, { text: 'y'.repeat(50_000) }) },
      many,
    );
    expect(few.left).toBeGreaterThan(many.left);
  });
});
