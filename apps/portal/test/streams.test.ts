import { describe, expect, it } from 'vitest';
import {
  emptyEvent,
  subscribedRulesText,
  sendersText,
  spread,
  streamsIn,
} from '../src/screens/streams/subscribed-rules.ts';

describe('the streams of a workspace', () => {
  const shared = [
    { workspace: 'shop', name: 'orders' },
    { workspace: 'shop', name: 'alarms' },
  ];
  const rule = { enabled: true } as never;
  const notifications = [
    {
      workspace: 'shop',
      name: 'order-paid',
      body: { rules: { paid: { ...(rule as object), stream: 'orders' }, own: rule } as never },
    },
    {
      workspace: 'shop',
      name: 'order-sent',
      body: {
        rules: {
          sent: { stream: 'orders' },
          moved: { path: 'shop/old-place' },
          joined: { cohort: { integration: 'crm', entered: 'vip' } },
        } as never,
      },
    },
    { workspace: 'shop', name: 'empty', body: {} },
  ];

  it('are the shared streams and those of rules, each with its subscribed rules', () => {
    expect(streamsIn(shared, notifications)).toEqual([
      { workspace: 'shop', name: 'alarms', isShared: true, subscribedRules: [] },
      {
        workspace: 'shop',
        name: 'orders',
        isShared: true,
        subscribedRules: [
          { notification: 'order-paid', rule: 'paid' },
          { notification: 'order-sent', rule: 'sent' },
        ],
      },
      {
        workspace: 'shop',
        name: 'old-place',
        isShared: false,
        subscribedRules: [{ notification: 'order-sent', rule: 'moved' }],
      },
      {
        workspace: 'shop',
        name: 'order-paid.own',
        isShared: false,
        subscribedRules: [{ notification: 'order-paid', rule: 'own' }],
      },
    ]);
  });

  it('say how many rules hear them, and who may send', () => {
    expect([0, 1, 2].map(subscribedRulesText)).toEqual([
      'No rule subscribed',
      '1 rule subscribed',
      '2 rules subscribed',
    ]);
    expect(sendersText({})).toBe('Nobody may send yet');
    expect(sendersText({ api_keys: ['a'] })).toBe('The key a may send');
    expect(sendersText({ api_keys: ['a', 'b'] })).toBe('The keys a and b may send');
    expect(sendersText({ jwt_provider: 'auth' })).toBe('Tokens of auth may send');
  });
});

describe('an event to send', () => {
  it('is spread over several lines only if no value changes', () => {
    expect(spread('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(spread('{"a":12345678901234567890}')).toBe('{"a":12345678901234567890}');
    expect(spread('{"a": 1}')).toBe('{"a": 1}');
    expect(spread('{')).toBe('{');
  });

  it('contains the key and time fields of its stream if no rule reads fields', () => {
    const now = '2026-11-23T10:00:00.000Z';
    expect(JSON.parse(emptyEvent('event.order.id', 'event.order.at', now))).toEqual({ order: { id: 'A-1', at: now } });
    expect(JSON.parse(emptyEvent(undefined, undefined, now))).toEqual({});
    // What is no plain path has no place that could be filled in.
    expect(JSON.parse(emptyEvent('event.a[0]', undefined, now))).toEqual({});
  });
});
