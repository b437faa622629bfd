import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeExpression, withField } from '../src/screens/rule/completion.ts';
import { formChangeWords } from '../src/screens/rule/form-change-words.ts';
import {
  conditionOf,
  COMPARED,
  pathText,
  readPath,
  readValue,
  readValues,
  rowOf,
  showValue,
  showValues,
  type Condition,
} from '../src/screens/rule/form-rows.ts';
import { startOf, withChange } from '../src/screens/rule/use-form-changes.ts';
import type { FormChange } from '../src/screens/rule/queries.ts';
import { decidingPart, verdictOf, type Tested } from '../src/screens/rule/verdict.ts';

const text = fc.oneof(
  fc.constantFrom('paid', 'true', '12', '-1.5e3', 'null', '', ' ', '"', '\\', 'a, b', '"x"', ' "', 'ä', '—'),
  fc.string({ maxLength: 8, unit: 'grapheme' }),
);
const value = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Object.is(one, -0)),
  fc.boolean(),
  fc.constant(null),
);
const step = fc.oneof(fc.constantFrom('status', 'in', 'first name', '_a1'), text, fc.nat(999));
const path = fc
  .tuple(fc.constantFrom('event', 'item', 'variables'), fc.array(step, { minLength: 1, maxLength: 3 }))
  .map(([root, steps]) => [root, ...steps] as [string, ...(string | number)[]]);
const op = fc.constantFrom(...COMPARED);
const not = fc.boolean();

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ kind: fc.constant('compare'), path, op, value }),
  fc.record({ kind: fc.constant('one_of'), path, values: fc.array(value, { maxLength: 4 }), not }),
  fc.record({
    kind: fc.constant('text'),
    path,
    test: fc.constantFrom('startsWith', 'endsWith', 'contains', 'matches'),
    value: text,
    not,
  }),
  fc.record({ kind: fc.constant('true'), path, not }),
  fc.record({ kind: fc.constant('has'), path, not }),
  fc.record({ kind: fc.constant('changed'), path, not }),
  fc.record({ kind: fc.constant('changed_to'), path, value, not }),
  fc.record({ kind: fc.constant('changed_from_to'), path, from: value, value, not }),
  fc.record({ kind: fc.constant('size'), path, op, value: fc.integer() }),
  fc.record({
    kind: fc.constant('some'),
    path,
    name: fc.constantFrom('i', 'entry'),
    field: fc.array(step, { maxLength: 2 }),
    op,
    value,
  }),
) as unknown as fc.Arbitrary<Condition>;

describe('a line of the form', () => {
  it('keeps every condition: read(write(form)) = form', () => {
    fc.assert(
      fc.property(condition, (one) => {
        const row = rowOf(one);
        if (row === null) throw new Error('every one of these has a line');
        expect(conditionOf(row)).toEqual({ ok: true, condition: one });
      }),
      { numRuns: 2000 },
    );
  });

  it('writes values that it reads back unchanged', () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(readValue(showValue(one))).toEqual(one);
      }),
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), (all) => {
        expect(readValues(showValues(all))).toEqual(all);
      }),
    );
    fc.assert(
      fc.property(path, (one) => {
        expect(readPath(pathText(one))).toEqual(one);
      }),
    );
  });

  it('takes text without quotes, and numbers for numbers', () => {
    expect(readValue(' paid ')).toBe('paid');
    expect(readValue('"100"')).toBe('100');
    expect(readValue('100')).toBe(100);
    expect(readValues('a, "b, c", 3')).toEqual(['a', 'b, c', 3]);
    expect(readPath('status')).toEqual(['event', 'status']);
    expect(readPath('totals.failed', true)).toEqual(['totals', 'failed']);
    expect(readPath('totals.failed')).toEqual(['event', 'totals', 'failed']);
    expect(readPath('event.items[0]["a b"].qty')).toEqual(['event', 'items', 0, 'a b', 'qty']);
  });

  it('says which part cannot be meant', () => {
    const row = {
      field: 'event.a',
      test: '==',
      value: '1',
      from: '',
      entry: { field: '', test: '==', name: 'i' },
    } as const;
    for (const field of ['', 'event', 'a b', 'event..a', '1a', 'event[x]']) {
      expect(conditionOf({ ...row, field })).toMatchObject({ ok: false, part: 'field' });
    }
    expect(conditionOf({ ...row, test: 'size >', value: 'many' })).toMatchObject({ ok: false, part: 'value' });
    const entry = { ...row.entry, field: 'a b' };
    expect(conditionOf({ ...row, test: 'some', entry })).toMatchObject({ ok: false, part: 'entry' });
  });

  it('leaves to a chip what a form cannot say', () => {
    expect(rowOf({ kind: 'expression', source: 'event.a + 1 > 2' })).toBeNull();
  });
});

describe('completion', () => {
  const fields = [
    { path: 'status', types: ['string'], sample: '"paid"', count: 100 },
    { path: 'customer.email', types: ['string'], sample: null, count: 50 },
    { path: 'items[].qty', types: ['number'], sample: '2', count: 20 },
  ];
  const complete = completeExpression(fields, ['event', 'event_id']);
  const labels = (before: string): readonly string[] => complete(before)?.choices.map(({ label }) => label) ?? [];

  it('offers fields with type, share and newest value, and what begins as typed', () => {
    expect(complete('event.s')).toMatchObject({
      from: 0,
      choices: [{ label: 'event.status', detail: 'string · 100 %', info: 'newest: "paid"' }],
    });
    expect(complete('event.status == "x" && event.c')).toMatchObject({ from: 23 });
    expect(labels('ev')).toEqual(['event.status', 'event.customer.email', 'event', 'event_id']);
    expect(labels('event.status.st')).toContain('startsWith(');
  });

  it('offers nothing within a text', () => {
    expect(complete('event.status == "ev')).toBeNull();
  });

  it('replaces a field by the suggested one, only as a whole name', () => {
    expect(withField('event.totl > 1 && event.totl2 && event.a.totl', 'totl', 'total')).toBe(
      'event.total > 1 && event.totl2 && event.a.totl',
    );
  });
});

describe('the verdict of a test', () => {
  const part = (source: string, depth: number, said: string) => ({ source, depth, value: said });
  const tested = (explained: Tested['explained'], more: Partial<Tested> = {}): Tested =>
    ({
      explained,
      fired: false,
      outcome: 'did not fire',
      error: null,
      recipients: [],
      dropped: [],
      asks: null,
      ...more,
    }) as Tested;
  const parts = [
    part('event.status == "paid" && event.total > 100', 0, 'false'),
    part('event.status == "paid"', 1, 'true'),
    part('event.status', 2, '"paid"'),
    part('event.total > 100', 1, 'false'),
    part('event.total', 2, '40'),
  ];

  it('names the part that decided, with its value', () => {
    expect(decidingPart(parts)).toBe(3);
    expect(verdictOf(tested(parts)).words).toBe('Does not fire: event.total > 100 is false: event.total is 40.');
    const flags = [part('event.a == event.b', 0, 'false'), part('event.a', 1, 'true'), part('event.b', 1, '1')];
    expect(decidingPart(flags)).toBe(0);
  });

  it('names the error that it ended in', () => {
    const wrong = [
      part('event.a.b > 1', 0, 'error: no such field: a'),
      part('event.a.b', 1, 'error: no such field: a'),
    ];
    expect(verdictOf(tested(wrong)).words).toBe('Does not fire: event.a.b gives an error, no such field: a.');
    const sentence = [part('previous.a', 0, 'error: before_unknown: the database did not send the row before.')];
    expect(verdictOf(tested(sentence)).words).toMatch(/ row before\.$/);
  });

  it('counts who is told', () => {
    expect(decidingPart([part('true', 0, 'true')])).toBeNull();
    const one = { fired: true, recipients: [{} as never] };
    expect(verdictOf(tested([part('true', 0, 'true')], one)).words).toBe('Fires: 1 person is notified.');
    const ada = { name: 'Ada', to: { email: 'ada@example.com' }, person: 'p', notified_already: true } as never;
    const told = (...recipients: never[]): string => verdictOf(tested([], { fired: true, recipients })).words;
    expect(told(ada)).toBe('Fires, but Ada was notified already.');
    expect(told({ ...(ada as object), name: null } as never)).toBe('Fires, but ada@example.com was notified already.');
    expect(told(ada, ada)).toBe('Fires, but 2 people were notified already.');
    expect(told(ada, {} as never)).toBe('Fires: 1 person is notified, Ada was notified already.');
    expect(verdictOf(tested([], { fired: true, dropped: ['x'] })).words).toBe(
      'Fires, but nobody is notified, 1 dropped.',
    );
  });
});

describe('a change of a form in words', () => {
  const total = { kind: 'compare', path: ['event', 'total'], op: '>', value: 70 } as never;
  it.each([
    [{ kind: 'replace', at: [1], condition: total }, 'condition 2 becomes: event.total is more than 70'],
    [{ kind: 'remove', at: [1, 0] }, 'condition 2.1 is removed'],
    [{ kind: 'add', at: [], condition: total }, 'added: event.total is more than 70'],
    [{ kind: 'group', at: [0], condition: total }, 'condition 1 or: event.total is more than 70'],
    [{ kind: 'match', at: [], match: 'any' }, 'match any'],
    [
      { kind: 'add', at: [], condition: { kind: 'expression', source: 'event.a > event.b' } as never },
      'added: event.a > event.b',
    ],
    [
      { kind: 'add', at: [], condition: { kind: 'has', path: ['event', 'coupon'], not: true } as never },
      'added: event.coupon is not there',
    ],
    [
      {
        kind: 'add',
        at: [],
        condition: {
          kind: 'changed_from_to',
          path: ['event', 'status'],
          from: 'open',
          value: 'paid',
          not: false,
        } as never,
      },
      'added: event.status changes from open to paid',
    ],
  ] as const)('says %j as “%s”', (change, words) => {
    expect(formChangeWords({ ...change, at: [...change.at] })).toBe(words);
  });

  it('contains the field and value of each added condition, so that it can be typed again', () => {
    fc.assert(
      fc.property(condition, (one) => {
        const row = rowOf(one)!;
        expect(formChangeWords({ kind: 'add', at: [], condition: one as never })).toContain(row.field);
        expect(formChangeWords({ kind: 'add', at: [], condition: one as never })).toContain(row.value);
      }),
    );
  });
});

describe('changes that wait for the server', () => {
  const typed = (source: string, at = [1]): FormChange => ({
    kind: 'replace',
    at,
    condition: { kind: 'expression', source },
  });

  it('keep the newest text of each edited part, and the change that is being written', () => {
    const busy = typed('a');
    const waiting = ['ab', 'abc'].reduce(
      (before: readonly FormChange[], letters) => withChange(before, typed(letters), busy),
      [busy],
    );
    expect(waiting).toEqual([busy, typed('abc')]);
    const removed: FormChange = { kind: 'remove', at: [0] };
    const others = [removed, typed('b'), typed('bc'), typed('b', [2])].reduce(
      (before: readonly FormChange[], change) => withChange(before, change, null),
      [],
    );
    expect(others).toEqual([removed, typed('bc'), typed('b', [2])]);
  });

  it('replace a part in the expression from before its typing, and any other part in the newest expression', () => {
    const replaced = { at: '1', from: 'x && y', to: 'x && a && b' };
    expect(startOf(typed('a && bc'), 'x && a && b', replaced)).toBe('x && y');
    expect(startOf(typed('c', [0]), 'x && a && b', replaced)).toBe('x && a && b');
    // Somebody else wrote the text meanwhile.
    expect(startOf(typed('a && bc'), 'z && a && b', replaced)).toBe('z && a && b');
  });
});
