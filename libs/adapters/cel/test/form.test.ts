import type { FormChange, FormCondition } from '@carillon/domain/rules';
import { describe, expect, it } from 'vitest';
import { changed, conditionsOf, FORM_LAWS, formOf, language } from './form-laws.ts';

describe('the visual form of an expression (as the portal shows it)', () => {
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
  ])('shows %s as a line of its own', (source, condition) => {
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
  ])('keeps %s as text at its position', (source) => {
    expect(conditionsOf(source)).toEqual([{ kind: 'expression', source }]);
    expect(conditionsOf(`event.x && (${source})`)).toEqual([
      { kind: 'true', path: ['event', 'x'], not: false },
      { kind: 'expression', source: `(${source})` },
    ]);
  });

  it('has one level of groups, and shows deeper ones as text', () => {
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

  it('gives the position of each part, including its brackets', () => {
    const source = 'event.a // a && b\n  && (event.b || event.c) && ( event.d )';
    const places = formOf(source).conditions.map(({ start, end }) => source.slice(start, end));
    expect(places).toEqual(['event.a', '(event.b || event.c)', '( event.d )']);
  });
});

describe('an edit in the visual form of an expression', () => {
  const source = `event.status == 'paid' // as the shop says
  && (event.total > 100 || event.vip)
  && event.items.all(i, i.qty > 0)`;
  const big: FormCondition = { kind: 'compare', path: ['event', 'total'], op: '>', value: 250 };
  const loose: FormCondition = { kind: 'expression', source: 'event.a || event.b // which' };

  it('rewrites only the edited part', () => {
    expect(changed(source, { kind: 'replace', at: [1, 0], condition: big })).toBe(
      source.replace('event.total > 100', 'event.total > 250'),
    );
    expect(changed(source, { kind: 'replace', at: [2], condition: loose })).toBe(
      source.replace('event.items.all(i, i.qty > 0)', '(event.a || event.b // which\n)'),
    );
  });

  it('removes a part together with the operator that joins it', () => {
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

  it('changes the operator of a group without splitting nested groups', () => {
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

  it('turns a part into a group', () => {
    expect(changed('event.a && event.b', { kind: 'group', at: [1], condition: big })).toBe(
      'event.a && (event.b || event.total > 250)',
    );
    expect(changed('event.a', { kind: 'group', at: [0], condition: big })).toBe('(event.a || event.total > 250)');
  });

  it('refuses text that would extend beyond its part, and positions that do not exist', () => {
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

describe('the visual form and the text of an expression', () => {
  it.each(FORM_LAWS)('$law', ({ check }) => check(300));
});
