import type { Addresses } from '../../src/channels/index.ts';
import type { LookupRecipients } from '../../src/configuration/index.ts';
import { recipientsOf } from '../../src/lookups/index.ts';
import { evaluateRule } from '../../src/rules/index.ts';
import type { Json, JsonObject } from '@carillon/kernel';
import { givenEvent, givenLookup, givenLookupRule, givenTrigger } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';

const NOWHERE: Addresses = { email: null, phone: null, token: null };

function found(
  variables: JsonObject,
  recipients: Partial<LookupRecipients> = {},
  more: { readonly to?: Partial<Addresses>; readonly userId?: string | null; readonly event?: JsonObject } = {},
) {
  const { to = { email: 'ada@example.com' }, userId = 'ada', event = {} } = more;
  const lookup = givenLookup({
    trigger: givenTrigger({ event }),
    items: [{ userId, to: { ...NOWHERE, ...to }, variables }],
  });
  return recipientsOf(givenLookupRule(recipients), lookup);
}
const uniqueId = (...args: Parameters<typeof found>): unknown => {
  const { recipients, dropped } = found(...args);
  return recipients[0]?.uniqueId ?? dropped[0]?.reason;
};

describe('the unique_id of a recipient that a partner named', () => {
  it('is the partner’s, a number as its decimal text', () => {
    expect(uniqueId({ unique_id: 'u-1' }, { unique_id: 'event.order' })).toBe('u-1');
    expect(uniqueId({ unique_id: 42 })).toBe('42');
    expect(uniqueId({ unique_id: 9007199254740993n })).toBe('9007199254740993');
  });

  it('is the rule’s if the partner’s is null, empty or missing', () => {
    for (const none of [{ unique_id: null }, { unique_id: '' }, {}]) {
      expect(uniqueId({ ...none, id: 7 }, { unique_id: '"order-" + variables.nobody' })).toBe('rule_error');
      expect(uniqueId(none, { unique_id: 'event.order' }, { event: { order: 'A-1' } })).toBe('A-1');
    }
    expect(uniqueId({ id: 'x' }, { unique_id: 'event.order + ":" + variables.id' }, { event: { order: 'A-1' } })).toBe(
      'A-1:x',
    );
  });

  it('is the first address if neither has one: email, then phone, then token', () => {
    expect(uniqueId({}, {}, { to: { token: 't', phone: '+491', email: 'a@b.example' } })).toBe('a@b.example');
    expect(uniqueId({}, {}, { to: { token: 't', phone: '+491' } })).toBe('+491');
    expect(uniqueId({}, {}, { to: { token: 't' } })).toBe('t');
    expect(uniqueId({}, {}, { to: {} })).toBe('no_unique_id');
  });

  it('has the address added if the rule says event_id or trigger_id, but not if it is the partner’s', () => {
    expect(uniqueId({}, { unique_id: 'event_id' })).toBe('evt_1:ada@example.com');
    expect(uniqueId({}, { unique_id: 'trigger_id' })).toBe('trg_1:ada@example.com');
    expect(uniqueId({ unique_id: 'event_id' })).toBe('event_id');
  });
});

describe('the `where` of a rule, applied to a partner’s answer', () => {
  const reason = (variables: JsonObject, where: string): unknown =>
    found(variables, { where }, { event: { min: 10 } }).dropped[0]?.reason ?? 'kept';
  it('keeps recipients for whom it is true, by variables and event', () => {
    expect(reason({ points: 11 }, 'variables.points > event.min')).toBe('kept');
    expect(reason({ points: 9 }, 'variables.points > event.min')).toBe('where_false');
  });
  it('drops a recipient with rule_error if its evaluation fails', () => {
    expect(reason({}, 'variables.points > event.min')).toBe('rule_error');
  });
});

describe('the person id of a recipient that a partner named', () => {
  it('is the user id, or else the value that the rule sets, or else the address in lower case', () => {
    const person = (...args: Parameters<typeof found>) => found(...args).recipients[0]?.person;
    expect(person({ id: 'x' }, { person: 'variables.id' })).toBe('ada');
    expect(person({ id: 'x' }, { person: 'variables.id' }, { userId: null })).toBe('x');
    expect(person({}, {}, { userId: null, to: { email: 'Ada@Example.com' } })).toBe('ada@example.com');
  });
});

describe('the user ids that a rule sends to a partner', () => {
  const asked = (userIds: Json): unknown => {
    const outcome = evaluateRule(givenLookupRule(), givenEvent({ user_ids: userIds }), () => 'trg_1');
    if (outcome.kind !== 'asks') return outcome;
    return [outcome.userIds.join(' '), outcome.dropped.map(({ index, reason }) => `${index} ${reason}`).join(' ')];
  };
  it('are a text, a number or a list of these, without repeats', () => {
    expect(asked('ada')).toEqual(['ada', '']);
    expect(asked(7)).toEqual(['7', '']);
    expect(asked(9007199254740993n)).toEqual(['9007199254740993', '']);
    expect(asked(['b', 'a', 'b', 1, '1'])).toEqual(['b a 1', '']);
  });
  it('are dropped one by one with the reason if they have another type', () => {
    expect(asked(['a', null, '', {}, true, 'x'.repeat(256)])).toEqual([
      'a',
      [1, 2, 3, 4, 5].map((at) => `${at} invalid_user_id`).join(' '),
    ]);
    expect(asked([])).toEqual(['', '0 no_user_ids']);
    expect(asked(null)).toEqual(['', '0 invalid_user_id']);
  });
  it('fail the rule with a reason if they are missing', () => {
    const outcome = evaluateRule(givenLookupRule({ user_ids: 'event.nobody' }), givenEvent({}), () => 'trg_1');
    expect(outcome).toMatchObject({ kind: 'failed', error: expect.stringContaining('user_ids') as string });
  });
  it('are limited to 50,000, and the rest are reported', () => {
    const outcome = evaluateRule(
      givenLookupRule(),
      givenEvent({ user_ids: Array.from({ length: 50_010 }, (_, at) => at) }),
      () => 'trg_1',
    );
    expect(outcome.kind === 'asks' && [outcome.userIds.length, outcome.dropped]).toMatchObject([
      50_000,
      [{ reason: 'too_many_user_ids', detail: '10 beyond the 50000 of one event' }],
    ]);
  });
});
