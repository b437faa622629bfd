import { describe, expect, it } from 'vitest';
import { letterWords } from '../src/screens/deliveries/letter-words.ts';

const nothing = {
  partner: null,
  rule: null,
  notification: null,
  person: null,
  people: 0,
  event_id: null,
  stage: 'ask',
};

describe('the words about a dead letter', () => {
  it('name partner, rule, people and event', () => {
    expect(
      letterWords({ ...nothing, partner: 'crm', rule: 'cart.abandoned', person: '7', people: 3, event_id: 'evt_1' }),
    ).toBe('crm for cart.abandoned · 7 and 2 more · evt_1');
    expect(letterWords({ ...nothing, rule: 'order-paid.paid', person: 'ada@example.com', people: 1 })).toBe(
      'order-paid.paid · ada@example.com',
    );
    expect(letterWords({ ...nothing, event_id: 'evt_1' })).toBe('evt_1');
  });

  it('name the stage if nothing else is known', () => {
    expect(letterWords(nothing)).toBe('ask');
  });
});
