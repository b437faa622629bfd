import {
  COMPARISONS,
  conditionText,
  isDotted,
  TEXT_TESTS,
  type ExpressionForm,
  type FormChange,
  type FormCondition,
  type FormPart,
  type FormPath,
} from '@carillon/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressionLanguage } from '../src/index.ts';

const language = createExpressionLanguage();

function formOf(source: string): ExpressionForm {
  const compiled = language.compile(source, 'recipient');
  if (!compiled.ok) throw new Error(`${source}: ${JSON.stringify(compiled.error)}`);
  return compiled.value.form();
}

/** Without the places, which the text decides. */
const said = ({ start: _start, end: _end, ...part }: FormPart): unknown =>
  part.kind === 'group' ? { ...part, conditions: part.conditions.map(said) } : part;
const conditionsOf = (source: string): unknown[] => formOf(source).conditions.map(said);

function changed(source: string, change: FormChange): string {
  const result = language.change(source, 'recipient', change);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

describe('the form of an expression', () => {
  it.each<[string, FormCondition]>([
    ['event.status == "paid"', { kind: 'compare', path: ['event', 'status'], op: '==', value: 'paid' }],
    ["event.status != 'paid'", { kind: 'compare', path: ['event', 'status'], op: '!=', value: 'paid' }],
    ['event.total >= -1.5', { kind: 'compare', path: ['event', 'total'], op: '>=', value: -1.5 }],
    ['event.total < -3', { kind: 'compare', path: ['event', 'total'], op: '<', value: -3 }],
    ['event.gone == null', { kind: 'compare', path: ['event', 'gone'], op: '==', value: null }],
    ['event_id == "evt_1"', { kind: 'compare', path: ['event_id'], op: '==', value: 'evt_1' }],
    [
      'event.items[0]["first name"] == true',
      { kind: 'compare', path: ['event', 'items', 0, 'first name'], op: '==', value: true },
    ],
    ['event.kind in ["a", 1]', { kind: 'one_of', path: ['event', 'kind'], values: ['a', 1], not: false }],
    ['!(event.kind in ["a"])', { kind: 'one_of', path: ['event', 'kind'], values: ['a'], not: true }],
    [
      'event.name.startsWith("A")',
      { kind: 'text', path: ['event', 'name'], test: 'startsWith', value: 'A', not: false },
    ],
    ['!event.name.contains("A")', { kind: 'text', path: ['event', 'name'], test: 'contains', value: 'A', not: true }],
    [
      'event.name.matches("^A+$")',
      { kind: 'text', path: ['event', 'name'], test: 'matches', value: '^A+$', not: false },
    ],
    ['event.is_new', { kind: 'true', path: ['event', 'is_new'], not: false }],
    ['!event.is_new', { kind: 'true', path: ['event', 'is_new'], not: true }],
    ['has(event.coupon)', { kind: 'has', path: ['event', 'coupon'], not: false }],
    ['!has(item.coupon)', { kind: 'has', path: ['item', 'coupon'], not: true }],
    ['size(event.items) > 2', { kind: 'size', path: ['event', 'items'], op: '>', value: 2 }],
    [
      'event.items.exists(i, i.qty > 2)',
      { kind: 'some', path: ['event', 'items'], name: 'i', field: ['qty'], op: '>', value: 2 },
    ],
    [
      'event.tags.exists(t, t == "new")',
      { kind: 'some', path: ['event', 'tags'], name: 't', field: [], op: '==', value: 'new' },
    ],
  ])('says %s in a line of its own', (source, condition) => {
    expect(formOf(source).match).toBe('all');
    expect(conditionsOf(source)).toEqual([condition]);
  });

  it.each([
    '"paid" == event.status',
    'event.total == 100.0',
    'event.total > event.limit',
    'event.total + 1 > 2',
    'event["status"] == "paid"',
    'event.?status == optional.of("paid")',
    'event.items.all(i, i.qty > 2)',
    'event.items.exists(i, i.qty > 2 && i.new)',
    'event.items.size() > 2',
    'matches(event.name, "A")',
    '!(event.total > 100)',
    'event.a ? event.b : event.c',
    'time > timestamp("2026-01-01T00:00:00Z")',
    'event.id == 9007199254740993',
  ])('keeps %s as text, in its place', (source) => {
    expect(conditionsOf(source)).toEqual([{ kind: 'expression', source }]);
    expect(conditionsOf(`event.x && (${source})`)).toEqual([
      { kind: 'true', path: ['event', 'x'], not: false },
      { kind: 'expression', source: `(${source})` },
    ]);
  });

  it('has one level of groups, and deeper ones as text', () => {
    const x = (name: string) => ({ kind: 'true', path: ['event', name], not: false });
    expect(formOf('event.a || event.b && event.c').match).toBe('any');
    expect(conditionsOf('event.a || event.b && event.c')).toEqual([
      x('a'),
      { kind: 'group', match: 'all', conditions: [x('b'), x('c')] },
    ]);
    expect(conditionsOf('event.a && (event.b || (event.c && event.d))')).toEqual([
      x('a'),
      { kind: 'group', match: 'any', conditions: [x('b'), { kind: 'expression', source: '(event.c && event.d)' }] },
    ]);
    expect(conditionsOf('(event.a && event.b) && event.c && event.d')).toEqual([
      { kind: 'group', match: 'all', conditions: [x('a'), x('b')] },
      x('c'),
      x('d'),
    ]);
    expect(conditionsOf('(event.a && event.b)')).toEqual([x('a'), x('b')]);
  });

  it('says where each part stands, with the brackets around it', () => {
    const source = 'event.a // a && b\n  && (event.b || event.c) && ( event.d )';
    const places = formOf(source).conditions.map(({ start, end }) => source.slice(start, end));
    expect(places).toEqual(['event.a', '(event.b || event.c)', '( event.d )']);
  });
});

describe('a change of the form', () => {
  const source = `event.status == 'paid' // as the shop says
  && (event.total > 100 || event.vip)
  && event.items.all(i, i.qty > 0)`;
  const big: FormCondition = { kind: 'compare', path: ['event', 'total'], op: '>', value: 250 };
  const loose: FormCondition = { kind: 'expression', source: 'event.a || event.b // which' };

  it('rewrites the part that it names, and nothing else', () => {
    expect(changed(source, { kind: 'replace', at: [1, 0], condition: big })).toBe(
      source.replace('event.total > 100', 'event.total > 250'),
    );
    expect(changed(source, { kind: 'replace', at: [2], condition: loose })).toBe(
      source.replace('event.items.all(i, i.qty > 0)', '(event.a || event.b // which\n)'),
    );
  });

  it('takes a part away with the operator that joins it', () => {
    expect(changed(source, { kind: 'remove', at: [2] })).toBe(source.slice(0, source.lastIndexOf('\n')));
    expect(changed(source, { kind: 'remove', at: [0] })).toBe(source.slice(source.indexOf('(')));
    expect(changed(source, { kind: 'remove', at: [1, 1] })).toBe(source.replace(' || event.vip', ''));
    expect(changed('(event.a && event.b) && (event.c)', { kind: 'remove', at: [1] })).toBe('(event.a && event.b)');
    expect(changed('event.a', { kind: 'remove', at: [0] })).toBe('');
  });

  it('adds a part at the end of the form or of a group', () => {
    expect(changed(source, { kind: 'add', at: [], condition: big })).toBe(`${source} && event.total > 250`);
    expect(changed(source, { kind: 'add', at: [1], condition: big })).toBe(
      source.replace('event.vip', 'event.vip || event.total > 250'),
    );
    expect(changed('', { kind: 'add', at: [], condition: big })).toBe('event.total > 250');
    expect(changed('event.a ? event.b : event.c', { kind: 'add', at: [], condition: big })).toBe(
      '(event.a ? event.b : event.c) && event.total > 250',
    );
  });

  it('joins the other way without letting groups fall apart', () => {
    expect(changed('event.a || event.b && event.c', { kind: 'match', at: [], match: 'all' })).toBe(
      'event.a && (event.b && event.c)',
    );
    expect(changed('event.a || event.b && event.c', { kind: 'match', at: [1], match: 'any' })).toBe(
      'event.a || (event.b || event.c)',
    );
    expect(changed('event.a // || \n && event.b', { kind: 'match', at: [], match: 'any' })).toBe(
      'event.a // || \n || event.b',
    );
  });

  it('makes a group of a part', () => {
    expect(changed('event.a && event.b', { kind: 'group', at: [1], condition: big })).toBe(
      'event.a && (event.b || event.total > 250)',
    );
    expect(changed('event.a', { kind: 'group', at: [0], condition: big })).toBe('(event.a || event.total > 250)');
  });

  it('refuses text that would reach beyond its place, and places that are not there', () => {
    const refused = (change: FormChange) => language.change('event.a && event.b', 'when', change);
    const sly: FormCondition = { kind: 'expression', source: 'true) || (true' };
    expect(refused({ kind: 'replace', at: [0], condition: sly }).ok).toBe(false);
    for (const at of [[2], [-1], [0, 0], [0, 0, 0], [0.5]]) {
      expect(refused({ kind: 'replace', at, condition: big })).toMatchObject({
        ok: false,
        error: [{ message: 'the form has no part at this place' }],
      });
    }
    expect(refused({ kind: 'add', at: [0], condition: big }).ok).toBe(false);
    expect(language.change('event.a &&', 'when', { kind: 'remove', at: [0] }).ok).toBe(false);
  });
});

const name = fc.oneof(
  fc.constantFrom('a', 'b1', '_c', 'in', 'true', 'null', 'a b', 'ä', '', '"', '\\', '//', '&&', ')'),
  fc.string({ maxLength: 4, unit: 'grapheme' }).filter((text) => text.isWellFormed()),
);
const step = fc.oneof(name, fc.nat(9));
const path: fc.Arbitrary<FormPath> = fc
  .tuple(fc.constantFrom('event', 'item'), fc.array(step, { minLength: 1, maxLength: 3 }))
  .map(([root, steps]) => [root, ...steps] as const);
const text = fc.oneof(name, fc.constantFrom('" || true || "', "'", '\n', '\u2028', '😀'));
const value = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Number.isInteger(one)),
  fc.boolean(),
  fc.constant(null),
);
const op = fc.constantFrom(...COMPARISONS);
const condition: fc.Arbitrary<FormCondition> = fc.oneof(
  fc.record({ kind: fc.constant('compare' as const), path, op: fc.constantFrom('==' as const, '!=' as const), value }),
  fc.record({ kind: fc.constant('compare' as const), path, op, value: fc.integer() }),
  fc.record({
    kind: fc.constant('one_of' as const),
    path,
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
    not: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('text' as const),
    path,
    test: fc.constantFrom(...TEXT_TESTS.filter((test) => test !== 'matches')),
    value: text,
    not: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('true' as const), path, not: fc.boolean() }),
  fc.record({ kind: fc.constant('has' as const), path, not: fc.boolean() }).filter((one) => {
    const last = one.path.at(-1);
    return typeof last === 'string' && isDotted(last);
  }),
  fc.record({ kind: fc.constant('size' as const), path, op, value: fc.nat(1000) }),
  fc.record({
    kind: fc.constant('some' as const),
    path,
    name: fc.constantFrom('x', 'i'),
    field: fc.array(step, { maxLength: 2 }),
    op: fc.constantFrom('==' as const, '!=' as const),
    value,
  }),
);

describe('form and text', () => {
  it('what is written is read again as it was, for any form', () => {
    const group = fc.tuple(
      fc.constantFrom('all' as const, 'any' as const),
      fc.array(condition, { minLength: 1, maxLength: 4 }),
    );
    fc.assert(
      fc.property(group, ([match, conditions]) => {
        const source = conditions.map(conditionText).join(match === 'all' ? ' && ' : '\n|| ');
        expect(conditionsOf(source)).toEqual(conditions);
        if (conditions.length > 1) expect(formOf(source).match).toBe(match);
      }),
      { numRuns: 300 },
    );
  });

  it('a change changes the part that it names, and keeps every other, whatever they are', () => {
    const member = fc.oneof(
      condition.map(conditionText),
      fc.constantFrom('event.a ? event.b : event.c', 'event.a || event.b', 'event.a && event.b', '!(event.a == 1.0)'),
    );
    const expression = fc
      .tuple(fc.constantFrom(' && ', ' || // or\n'), fc.array(member, { minLength: 1, maxLength: 4 }))
      .map(([sign, members]) => members.map((one) => `(${one})`).join(sign));
    fc.assert(
      fc.property(expression, condition, fc.nat(3), (source, put, number) => {
        const before = formOf(source);
        const at = number % before.conditions.length;
        const after = formOf(changed(source, { kind: 'replace', at: [at], condition: put }));
        const expected = before.conditions.map((part, index) => (index === at ? put : said(part)));
        expect(after.conditions.map(said)).toEqual(expected);
        const added = formOf(changed(source, { kind: 'add', at: [], condition: put }));
        if (before.conditions.length > 1) {
          expect(added.conditions.map(said)).toEqual([...before.conditions.map(said), put]);
          const without = formOf(changed(source, { kind: 'remove', at: [at] }));
          const rest = before.conditions.filter((_part, index) => index !== at);
          if (rest.length > 1) expect(without.conditions.map(said)).toEqual(rest.map(said));
        }
      }),
      { numRuns: 300 },
    );
  });
});
