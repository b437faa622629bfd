import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTotal, totalBody, withNewTotal, withoutUnread } from '../src/screens/rule/totals.ts';

const RULE = {
  stream: 'orders',
  when: 'event.type == "failed"',
  recipients: { from: 'event', to: { email: 'event.email' } },
} as const;

describe('a total in the form', () => {
  it('is written as it was read', () => {
    const condition = fc.constantFrom('event.result == "failed"', 'event.a && event.b');
    const where = fc.option(condition, { nil: undefined as never });
    const within = fc.constantFrom('1m', '10m', '36h', '92d', 'calendar day', 'calendar week', 'calendar month');
    const total = fc.oneof(
      fc.record({ count: fc.oneof(condition, fc.constant('true')), within }),
      fc.record(
        { sum: fc.constantFrom('event.amount', 'event.qty * 2'), where, within },
        { requiredKeys: ['sum', 'within'] },
      ),
      fc.record({ distinct: fc.constant('event.country'), where, within }, { requiredKeys: ['distinct', 'within'] }),
    );
    fc.assert(
      fc.property(total, (body) => {
        expect(JSON.parse(JSON.stringify(totalBody(readTotal(body))))).toEqual(JSON.parse(JSON.stringify(body)));
      }),
    );
  });

  it('keeps its condition when a count becomes a sum, and a count of every event has none', () => {
    const count = readTotal({ count: 'event.paid', within: '1h' });
    expect(totalBody({ ...count, kind: 'sum', of: 'event.amount' })).toEqual({
      sum: 'event.amount',
      where: 'event.paid',
      within: '1h',
    });
    expect(readTotal({ count: 'true', within: '1h' }).where).toBe('');
  });

  it('gets a free name, and the first one of a rule a cooldown', () => {
    const { rule, name } = withNewTotal(RULE);
    expect(name).toBe('total');
    expect(rule).toEqual({ ...RULE, totals: { total: { count: 'true', within: '10m' } }, cooldown: 'until_false' });
    const second = withNewTotal({ ...rule, cooldown: '1h' });
    expect([second.name, second.rule.cooldown]).toEqual(['total_2', '1h']);
    const { cooldown: _left, ...without } = rule;
    expect(withNewTotal(without).rule).not.toHaveProperty('cooldown');
    expect(withNewTotal({ ...RULE, cooldown: '2h' }).rule.cooldown).toBe('2h');
  });

  it('goes with its line unless something else of the rule reads it', () => {
    const total = { count: 'true', within: '10m' };
    const rule = { ...RULE, totals: { total, other: total } };
    expect(withoutUnread(rule, ['total'])).toEqual({ ...RULE, totals: { other: total } });
    expect(withoutUnread({ ...RULE, totals: { total } }, ['total'])).toEqual(RULE);
    for (const unless of ['totals.total > 3', 'totals["total"] > 3']) {
      expect(withoutUnread({ ...rule, unless }, ['total']).totals).toHaveProperty('total');
    }
    expect(withoutUnread({ ...rule, unless: 'totals.total_2 > 3' }, ['total']).totals).not.toHaveProperty('total');
  });
});
