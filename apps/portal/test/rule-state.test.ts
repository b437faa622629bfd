import { parseDuration } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftsOf } from '../src/screens/notifications/new-notification.ts';
import { deadlineText, readDeadline } from '../src/screens/rule/deadline-form.ts';
import { entityOf, keepsState, nounOfKey } from '../src/screens/rule/entity.ts';
import { readSpan, SPAN_UNITS, spanText, spanWords, unitOptions } from '../src/screens/rule/spans.ts';
import type { Rule } from '../src/screens/rule/rule-props.ts';
import { decidedBy, firstDeadline, timeFields, wayOf } from '../src/screens/rule/wait-ways.ts';

const rule: Rule = { when: 'event.status == "placed"', recipients: { from: 'event', to: { email: 'event.email' } } };
const fields = [
  { path: 'status', types: ['string'], sample: '"placed"', count: 3 },
  { path: 'visits[].at', types: ['string'], sample: '"2026-03-01T09:00:00Z"', count: 3 },
  { path: 'due', types: ['string'], sample: '"2026-03-01T09:00:00Z"', count: 3 },
];

describe('a duration as two fields', () => {
  it('is read as it was written, also half typed', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 5 }).filter((text) => text.trim() === text),
        fc.constantFrom(...SPAN_UNITS),
        (amount, unit) => {
          expect(readSpan(spanText({ amount, unit }))).toEqual({ amount, unit });
        },
      ),
    );
  });

  it('is a duration of the product if the amount is a number', () => {
    for (const unit of SPAN_UNITS) expect(parseDuration(spanText({ amount: '7', unit })).ok).toBe(true);
  });

  it('shows weeks as days', () => {
    expect(readSpan('2w')).toEqual({ amount: '14', unit: 'd' });
  });

  it.each([
    ['1h', 'an hour'],
    ['1d', 'a day'],
    ['1m', 'a minute'],
    ['90m', '90 minutes'],
    ['2w', '14 days'],
    ['soon', 'soon'],
  ])('says %s', (text, words) => {
    expect(spanWords(text)).toBe(words);
  });

  it('names one unit or several', () => {
    expect(unitOptions('1').map(({ name }) => name)).toEqual(['second', 'minute', 'hour', 'day']);
    expect(unitOptions('').map(({ name }) => name)).toEqual(['seconds', 'minutes', 'hours', 'days']);
  });
});

describe('a deadline as a form', () => {
  it('is read as it was written', () => {
    const form = fc.record({
      amount: fc.integer({ min: 1, max: 23 }).map(String),
      unit: fc.constantFrom(...SPAN_UNITS),
      side: fc.constantFrom('before' as const, 'after' as const),
      field: fc.constantFrom('event.starts_at', 'event.a.b', 'previous.due'),
    });
    fc.assert(
      fc.property(form, (given) => {
        expect(readDeadline(deadlineText(given))).toEqual(given);
      }),
    );
  });

  it.each([
    ['timestamp(event.due)', { amount: '0', unit: 'h', side: 'after', field: 'event.due' }],
    ['timestamp(event.due)-duration("48h")', { amount: '2', unit: 'd', side: 'before', field: 'event.due' }],
    ['timestamp(event.due) + duration("90s")', { amount: '90', unit: 's', side: 'after', field: 'event.due' }],
    ['event.due', null],
    ['timestamp(event.due) - duration("1h30m")', null],
    ['timestamp(event.a) - duration("1h") - duration("1h")', null],
    ['timestamp(lookup(event.a))', null],
  ])('reads %s', (source, form) => {
    expect(readDeadline(source)).toEqual(form);
  });

  it('leaves a length that is no number to the server', () => {
    expect(deadlineText({ amount: 'x', unit: 'd', side: 'before', field: 'event.due' })).toBe(
      'timestamp(event.due) - duration("xd")',
    );
    expect(deadlineText({ amount: '0', unit: 'd', side: 'before', field: 'event.due' })).toBe('timestamp(event.due)');
  });
});

describe('the wait of a rule form', () => {
  it('begins with an hour, or a day before the first time field of events', () => {
    expect(decidedBy(rule, 'after', {}, fields)).toEqual({ ...rule, after: '1h' });
    expect(decidedBy(rule, 'at', {}, fields)).toEqual({ ...rule, at: 'timestamp(event.due) - duration("24h")' });
    expect(timeFields(fields)).toEqual(['event.due']);
    expect(firstDeadline([])).toContain('event.starts_at');
  });

  it('keeps its values when another option is viewed', () => {
    const waiting: Rule = { ...rule, after_last: '10m', unless: 'event.status == "paid"' };
    const timed: Rule = { ...rule, at: 'event.due', if_past: 'notify' };
    const { after_last: last, unless } = waiting;
    const left = { after_last: last, unless } as Parameters<typeof decidedBy>[2];
    const now = decidedBy(waiting, 'now', {}, fields);
    expect(now).toEqual(rule);
    expect(decidedBy(now, 'after', left, fields)).toEqual(waiting);
    expect(decidedBy(decidedBy(timed, 'after', {}, fields), 'at', { at: 'event.due', if_past: 'notify' }, [])).toEqual(
      timed,
    );
    expect([now, waiting, timed].map(wayOf)).toEqual(['now', 'after', 'at']);
  });
});

describe('the entity of a rule', () => {
  it.each([
    ['event.order_id', 'order'],
    ['event.orderId', 'order'],
    ['event.customer.id', 'customer'],
    ['event.id', ''],
    ['event.user', 'user'],
    ['event.line_item_no', 'line item'],
  ])('is called by the key %s', (key, noun) => {
    expect(nounOfKey(key)).toBe(noun);
  });

  it('says why a rule may not look at earlier events', () => {
    expect(entityOf({}, undefined).off).toContain('of its own');
    expect(entityOf({ stream: 'orders' }, {}).off).toBe('The event stream orders has no key.');
    expect(entityOf({ stream: 'orders' }, { key: 'event.order_id', time: 'event.at' }).off).toBeNull();
    expect(entityOf({ stream: 'orders' }, { key: 'event.order_id' })).toEqual({
      noun: 'order',
      key: 'event.order_id',
      off: null,
    });
    expect(entityOf({ stream: 'rows' }, { from: { integration: 'db', tables: {} } }).noun).toBe('row');
    expect(
      entityOf({ cohort: { integration: 'm', id: '1', on: 'entered', first_sync: 'silent' } }, undefined).off,
    ).toBeNull();
    expect([{}, { key: 'event.a' }, { key: 'event.a', time: 'event.t' }].map(keepsState)).toEqual([false, true, true]);
  });
});

describe('a new notification that waits', () => {
  const wish = {
    title: 'Order not paid',
    stream: 'orders',
    newKey: 'event.order_id',
    when: 'event.status == "placed"',
    waiting: { after: '1h', unless: 'event.status == "paid"' },
    tell: 'event.customer.email',
    by: 'email',
    template: '',
  } as const;

  it('creates its stream with an API key, if the workspace has none', () => {
    const drafts = draftsOf('shop', wish, ['backend']);
    expect(drafts.map(({ address }) => [address.kind, address.name])).toEqual([
      ['streams', 'orders'],
      ['templates', 'order-not-paid'],
      ['notifications', 'order-not-paid'],
    ]);
    expect(drafts[0]?.saving.body).toEqual({ key: 'event.order_id', security: { api_keys: ['backend'] } });
    expect(drafts[2]?.saving.body).toMatchObject({ rules: { first: { ...wish.waiting, stream: 'orders' } } });
  });

  it('uses an existing stream', () => {
    expect(draftsOf('shop', { ...wish, newKey: null }, []).map(({ address }) => address.kind)).toEqual([
      'templates',
      'notifications',
    ]);
  });
});
