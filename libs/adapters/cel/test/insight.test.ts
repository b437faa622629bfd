import { pathText } from '@carillon/domain/events';
import { type Requirement, RULE_STEPS } from '@carillon/domain/rules';
import { describe, expect, it } from 'vitest';
import { bindingsOf, compiled } from './evaluation.ts';

const fields = (source: string): readonly string[] =>
  compiled(source).fields.map(
    ({ root, path, dynamic }) => `${root}${path === '' ? '' : `:${path}`}${dynamic ? '*' : ''}`,
  );

describe('the event fields that an expression reads', () => {
  it.each([
    ['event.customer.email', ['event:customer.email']],
    [
      'event.items.exists(i, i.qty > 2 && i.sku == event.sku)',
      ['event:items', 'event:items[].qty', 'event:items[].sku', 'event:sku'],
    ],
    [
      'event.items.filter(i, i.ok).map(j, j.tags.exists(t, t == "x"))',
      ['event:items', 'event:items[].ok', 'event:items[].tags', 'event:items[].tags[]'],
    ],
    ['event["a b"].c', ['event:["a b"].c']],
    ['event.list[0].x', ['event:list[0].x']],
    ['event.map[event.key].x', ['event:map*', 'event:key']],
    ['event.?a.?b.orValue(item.c)', ['event:a.b', 'item:c']],
    ['has(event.a.b) || "x" in event', ['event:a.b', 'event']],
    ['cel.bind(o, event.order, o.total > 1)', ['event:order', 'event:order.total']],
    ['time.getHours() > 3 && event_id != ""', []],
  ])('for %s are %j', (source, expected) => {
    expect(fields(source)).toEqual(expected);
  });

  it('come with whether the expression uses the item of for_each', () => {
    expect(compiled('event.a + string(item.id)').usesItem).toBe(true);
    expect(compiled('event.items.exists(item, item.qty > 1)').usesItem).toBe(false);
  });
});

describe('the type that an expression needs a field to have', () => {
  it.each([
    ['event.total > 100 && event.status == "paid" && event.open', ['total number', 'status string', 'open boolean']],
    ['event.items.exists(i, i.qty * 2 > 4)', ['items array', 'items[].qty number']],
    ['event.name.startsWith("A") && timestamp(event.at) < time', ['name string', 'at string']],
    ['event.kind in ["a"] && "vip" in event.tags', ['kind string', 'tags array']],
    ['has(event.a) && event.b != null && event.c == event.d', ['a', 'b', 'c', 'd']],
    ['event.?n.orValue(0) > 1', ['n number']],
  ])('in %s is %j', (source, expected) => {
    const found = compiled(source, 'when').fields;
    expect(found.map(({ path, type }) => (type === null ? path : `${path} ${type}`))).toEqual(expected);
  });
});

describe('the field values that a condition requires', () => {
  const shown = (one: Requirement): string => {
    if (one.kind === 'unknown') return '?';
    if (one.kind === 'all' || one.kind === 'any') return `${one.kind}(${one.of.map(shown).join(', ')})`;
    const field = `${one.field.root}.${pathText(one.field.steps)}`;
    const not = 'holds' in one && !one.holds ? 'not ' : '';
    switch (one.kind) {
      case 'one_of':
        return `${field} ${not}in ${JSON.stringify(one.values)}`;
      case 'order':
        return `${field} ${one.is} ${JSON.stringify(one.than)}`;
      case 'text':
        return `${field} ${not}${one.is} ${one.text}`;
      case 'includes':
        return `${field} ${not}holds ${JSON.stringify(one.value)}`;
      case 'present':
        return `${field} ${not}there`;
      case 'differs':
        return `${field} differs`;
    }
  };

  it.each([
    ['event.status == "paid" && event.total > 100', 'all(event.status in ["paid"], event.total > 100)'],
    [
      'changedTo(event.status, "paid")',
      'all(op. in ["update"], event.status in ["paid"], previous.status not in ["paid"], previous.status differs)',
    ],
    [
      'changedFromTo(event.n, 1, 2) && changed(event.a)',
      'all(all(op. in ["update"], event.n in [2], previous.n in [1]), all(op. in ["update"], previous.a differs))',
    ],
    ['!changedTo(event.a, 1)', 'any(op. not in ["update"], event.a not in [1], previous.a in [1])'],
    ['!changed(event.a)', '?'],
    ['100 < event.total || !(event.a == 1)', 'any(event.total > 100, event.a not in [1])'],
    ['!(event.a > 1 && event.b)', 'any(event.a <= 1, event.b in [false])'],
    ['event.kind in ["a", "b"] && !has(event.gone)', 'all(event.kind in ["a","b"], event.gone not there)'],
    ['"vip" in event.tags', 'any(event.tags holds "vip", event.tags.vip there)'],
    ['event.name.startsWith("A") && "x" in event', 'all(event.name startsWith A, event.x there)'],
    ['event.items.exists(i, i.qty >= 2)', 'event.items[].qty >= 2'],
    ['cel.bind(o, event.order, o.total == -1.5)', 'event.order.total in [-1.5]'],
    [
      'event.ok ? event.a == 1 : event.b == null',
      'any(all(event.ok in [true], event.a in [1]), all(event.ok in [false], event.b in [null]))',
    ],
    ['event.a == event.b && size(event.c) > 1', 'all(?, ?)'],
    ['event.list[event.at] == 1', '?'],
    ['true && !false', 'all(all(), all())'],
  ])('of %s are %s', (source, expected) => {
    expect(shown(compiled(source, 'when').requirement())).toBe(expected);
  });
});

describe('the explanation of an evaluated expression', () => {
  it('shows the parts with their values, outermost first, and each loop as a whole', () => {
    const source = '(event.n + 1) * 2 > 3 && event.list.exists(x, x > 2) && event.gone == 1';
    const shown = compiled(source).explain(bindingsOf('{"n": 5, "list": [1, 3]}'));
    expect(
      shown.map((part) => [part.depth, part.source, part.result.ok ? part.result.value : part.result.error]),
    ).toEqual([
      [0, source, 'no such field: gone'],
      [1, '(event.n + 1) * 2 > 3 && event.list.exists(x, x > 2)', true],
      [2, '(event.n + 1) * 2 > 3', true],
      [3, '(event.n + 1) * 2', 12],
      [4, 'event.n + 1', 6],
      [5, 'event.n', 5],
      [2, 'event.list.exists(x, x > 2)', true],
      [3, 'event.list', [1, 3]],
      [1, 'event.gone == 1', 'no such field: gone'],
      [2, 'event.gone', 'no such field: gone'],
    ]);
  });
});

describe('the evaluation steps of an expression on a large event', () => {
  const steps = (source: string): number => compiled(source).largeSteps;
  it('are few for typical rules', () => {
    for (const source of [
      'event.status == "paid" && event.total > 100.0',
      'item.email.endsWith("@example.com")',
      'event.items.exists(i, i.qty > 4.0)',
      'event.text.contains("x") || time.getHours("Europe/Berlin") > 8',
    ]) {
      expect(steps(source) * 2, source).toBeLessThan(20_000);
    }
  });

  it('tell rules that would exceed the budget for 500 recipients from others', () => {
    const dear = 'event.text.matches("(a+)+$")';
    expect(steps(dear)).toBeLessThan(RULE_STEPS);
    expect(steps(dear) * 500).toBeGreaterThan(RULE_STEPS);
    expect(steps('item.text.matches("^[a-z]$")') * 500).toBeGreaterThan(RULE_STEPS);
    expect(steps('item.name.startsWith("a")') * 500).toBeLessThan(RULE_STEPS);
    expect(steps('event.items.all(i, event.text.contains(i.word))')).toBeGreaterThan(100 * 600);
  });
});
