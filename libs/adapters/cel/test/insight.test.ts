import { describe, expect, it } from 'vitest';
import { bindingsOf, compiled } from './evaluation.ts';

const fields = (source: string): readonly string[] =>
  compiled(source).fields.map(
    ({ root, path, dynamic }) => `${root}${path === '' ? '' : `:${path}`}${dynamic ? '*' : ''}`,
  );

describe('field references', () => {
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
  ])('%s refers to %j', (source, expected) => {
    expect(fields(source)).toEqual(expected);
  });

  it('knows whether it mentions the item', () => {
    expect(compiled('event.a + string(item.id)').usesItem).toBe(true);
    expect(compiled('event.items.exists(item, item.qty > 1)').usesItem).toBe(false);
  });
});

describe('explaining', () => {
  it('shows the parts with their values, outermost first and loops whole', () => {
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
