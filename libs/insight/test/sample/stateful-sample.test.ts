import type { EventStream, RuleBody } from '@carillon/domain/configuration';
import { givenRule, MORNING } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { minimumFields, sampleRule, type RuleSample } from '../../src/index.ts';

const ORDERS: EventStream = {
  path: 'shop/orders',
  workspace: 'shop',
  from: null,
  key: 'event.order_id',
  time: null,
  format: 'json',
  security: { api_keys: [] },
};

function sampleOf(rule: Partial<RuleBody>): RuleSample {
  const given = givenRule({ to: { email: 'event.email' }, unique_id: 'event_id' }, rule);
  // The stream of a given rule has no key, so that it keeps no event.
  const readsPrevious = rule.when?.startsWith('changed') === true;
  const compiled = readsPrevious ? { ...given, memory: { forms: given.memory?.forms ?? [], readsPrevious } } : given;
  return sampleRule(compiled, minimumFields(compiled, ORDERS, []), null, MORNING);
}

describe('a sample of a rule with state', () => {
  it('says when the rule fires, and has fired in a rehearsal', () => {
    const sample = sampleOf({ when: 'event.type == "placed"', after: '1h', unless: 'event.type == "paid"' });
    expect(sample).toMatchObject({
      event: { type: 'placed', order_id: 'A-1001', email: 'ada@example.com' },
      earlier: [],
      sentence: '1h after the first such event, unless event.type == "paid"',
      fires: true,
      recipients: 1,
    });
    expect(sampleOf({ when: 'event.type == "placed"', cooldown: '1h' })).toMatchObject({
      sentence: 'not again within 1h',
      fires: true,
    });
    expect(sampleOf({ when: 'event.type == "placed"' }).sentence).toBeNull();
  });

  it('has as many events as a count needs, and no more', () => {
    const failed = { count: 'event.result == "failed"', within: '1h' };
    const sample = sampleOf({ when: 'totals.failed >= 5', totals: { failed }, cooldown: 'until_false' });
    const event = { order_id: 'A-1001', result: 'failed', email: 'ada@example.com' };
    expect(sample).toMatchObject({
      event,
      earlier: [{ event, times: 4 }],
      sentence: 'when 5 such events come within 1h; not again until the condition has been false',
      fires: true,
      recipients: 1,
    });
    expect(sampleOf({ when: 'totals.failed > 499', totals: { failed } }).earlier[0]?.times).toBe(499);
    expect(sampleOf({ when: 'totals.failed >= 5', totals: { failed }, after: '1h' })).toMatchObject({
      earlier: [{ times: 4 }],
      sentence: 'when 5 such events come within 1h; 1h after the first such event',
      fires: true,
    });
  });

  it('reaches a sum by the number of one event', () => {
    const spent = { sum: 'event.amount', where: 'event.result == "ok"', within: 'calendar month' };
    expect(sampleOf({ when: 'totals.spent > 1000', totals: { spent } })).toMatchObject({
      event: { amount: 1001, result: 'ok' },
      earlier: [],
      sentence: null,
      fires: true,
    });
  });

  it('has another value in each event that a distinct counts', () => {
    const places = { distinct: 'event.country', within: '1d' };
    const sample = sampleOf({ when: 'totals.places >= 3', totals: { places } });
    expect(sample).toMatchObject({ sentence: 'when 3 such events come within 1d', fires: true });
    expect(
      new Set([sample.event, ...sample.earlier.map(({ event }) => event)].map(({ country }) => country)).size,
    ).toBe(3);
  });

  it('does not promise events for a total that an event like it never reaches', () => {
    const carts = { count: 'event.type == "cart"', within: '30m' };
    const sample = sampleOf({ when: 'event.type == "checkout" && totals.carts >= 1', totals: { carts } });
    expect(sample).toMatchObject({ fires: false, earlier: [] });
  });

  it('asks the event for no total that the template names', () => {
    const totals = { failed: { count: 'event.result == "failed"', within: '10m' } };
    const rule = givenRule({ unique_id: 'event_id' }, { when: 'event.result == "failed"', totals });
    const needs = { fields: [{ steps: ['totals', 'failed'], type: null }], all: false };
    expect(minimumFields(rule, ORDERS, [needs]).fields.map(({ path }) => path)).toEqual([
      'order_id',
      'result',
      'email',
    ]);
    const without = givenRule({ unique_id: 'event_id' }, { when: 'event.result == "failed"' });
    expect(minimumFields(without, ORDERS, [needs]).fields.map(({ path }) => path)).toContain('totals.failed');
  });

  it('does not fire if its own event cancels the wait', () => {
    const sample = sampleOf({ when: 'event.type == "placed"', after: '1h', unless: 'event.type != "paid"' });
    expect(sample).toMatchObject({ fires: false, recipients: 0 });
  });

  it('has a time ahead for a rule that waits until a time of the event', () => {
    const sample = sampleOf({
      when: 'event.status == "booked"',
      at: 'timestamp(event.starts_at) - duration("24h")',
      unless: 'event.status != "booked"',
    });
    expect(sample).toMatchObject({ event: { starts_at: '2026-02-08T08:00:00.000Z' }, fires: true });
    expect(sample.fields.map(({ path, usedBy }) => `${path} ${usedBy.join()}`)).toContain('starts_at at');
  });

  it('has the event that comes first, for a rule that compares events of an entity', () => {
    const sample = sampleOf({ when: 'changedFromTo(event.status, "open", "paid")' });
    expect(sample).toMatchObject({
      event: { order_id: 'A-1001', status: 'paid' },
      earlier: [{ event: { order_id: 'A-1001', status: 'open' }, times: 1 }],
      change: null,
      fires: true,
    });
  });
});
