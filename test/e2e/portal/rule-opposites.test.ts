import { createExpressionLanguage } from '@carillon/adapter-cel';
import { StepBudget, type Bindings } from '@carillon/domain/rules';
import type { Json } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oppositeOf } from '../../../apps/portal/src/screens/rule/opposite.ts';

const language = createExpressionLanguage();
const compile = (source: string) => {
  const compiled = language.compile(source, 'unless');
  if (!compiled.ok) throw new Error(`${source}: ${JSON.stringify(compiled.error)}`);
  return compiled.value;
};
const opposite = (source: string): string =>
  oppositeOf(source, compile(source).form() as unknown as Parameters<typeof oppositeOf>[1]);

const PARTS = [
  'event.status == "packing"',
  'event.total > 100',
  'event.total <= 5',
  'event.total != 100',
  'event.vip',
  '!event.vip',
  'has(event.coupon)',
  '!has(event.coupon)',
  'event.status in ["a", "packing"]',
  '!(event.status in ["a", "b"])',
  'event.status.startsWith("pa")',
  '!event.status.contains("x")',
  'size(event.items) >= 1',
  'event.items.exists(i, i > 2)',
  'event.total + 1 > 6',
] as const;
const event = fc.record({
  status: fc.constantFrom('packing', 'paid', 'a', 'xx'),
  total: fc.constantFrom(5, 100, 101),
  vip: fc.boolean(),
  items: fc.array(fc.nat(4), { maxLength: 2 }),
  coupon: fc.option(fc.constant('c'), { nil: undefined as never }),
});

function evaluate(source: string, given: object): unknown {
  const bindings = { event: JSON.parse(JSON.stringify(given)) as Json, event_id: 'evt_1', time: 0 } as Bindings;
  const result = compile(source).evaluate(bindings, new StepBudget());
  return result.ok ? result.value : result.error;
}

describe('the opposite of a condition', () => {
  it('is true for exactly the events for which the condition is false', () => {
    const source = fc
      .tuple(fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 3 }), fc.constantFrom(' && ', ' || '))
      .map(([parts, join]) => parts.join(join));
    fc.assert(
      fc.property(source, event, (text, given) => {
        expect(evaluate(opposite(text), given)).toBe(evaluate(text, given) === false);
      }),
    );
  });

  it('has a line for each line of the condition', () => {
    expect(opposite('event.status == "packing" && event.total > 100')).toBe(
      'event.status != "packing" || event.total <= 100',
    );
    expect(opposite('event.a == 1 && (event.b || event.c)')).toContain('event.a != 1 || !(');
  });

  it('of a change is another value, because a change is over at the next event', () => {
    expect(opposite('changedTo(event.status, "packing")')).toBe('event.status != "packing"');
    expect(opposite('changedFromTo(event.status, "open", "packing")')).toBe('event.status != "packing"');
    expect(opposite('!changedTo(event.status, "packing")')).toBe('changedTo(event.status, "packing")');
  });
});
