import { createErasureMatcher, eraseMemory, nameHash } from '@carillon/domain/erasures';
import { emptyMemory, nextDueOf, type EntityMemory, type KeptEvent } from '@carillon/domain/rules';
import type { EventId } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';

const keyed = (...parts: readonly string[]): string => JSON.stringify(parts);
const matcher = createErasureMatcher({ workspace: null, hashes: [nameHash('bob@example.com', keyed)] }, keyed);

const event = (id: string, email: string): KeptEvent => ({
  id: id as EventId,
  body: { email },
  change: null,
  appendedAt: 5,
  time: 5,
  traceparent: null,
  bytes: 100,
});
const isOfPerson = ({ body }: KeptEvent): boolean => body['email'] === 'bob@example.com';

const memory: EntityMemory = {
  ...emptyMemory({ workspace: 'shop', stream: 'shop/orders', key: 'A-1' }),
  offset: 9,
  appliedOffset: 9,
  lastEvent: 3,
  events: { 3: event('evt_bob', 'bob@example.com'), 4: event('evt_ada', 'ada@example.com') },
  rules: {
    rul_bob: { since: 1, wait: { event: 3, previous: null, due: 20, deadline: 20 } },
    rul_ada: {
      since: 1,
      wait: { event: 4, previous: 3, due: 30, deadline: 30 },
      kept: { total: { by: ['bob@example.com'] } },
    },
    rul_total: { since: 1, kept: { total: { by: ['ada@example.com'] } } },
  },
  decisions: [
    {
      record: 4,
      at: 6,
      ruleId: 'rul_ada',
      eventId: 'evt_ada' as EventId,
      form: 'total',
      saw: { by: 'bob@example.com' },
    },
  ],
};

describe('the stored rule state of an entity, when a person is erased', () => {
  const erased = eraseMemory(memory, matcher, isOfPerson);

  it('loses the events of an erased person, and ends the waits that were made from them as erased', () => {
    expect(Object.keys(erased.events)).toEqual(['4']);
    expect(erased.lastEvent).toBeNull();
    expect(erased.rules['rul_bob']).toEqual({ since: 1 });
    expect(erased.decisions.at(-1)).toMatchObject({ ruleId: 'rul_bob', eventId: 'evt_bob', saw: { kind: 'erased' } });
  });

  it('keeps the waits of other people, without the previous event if that is of the erased person', () => {
    expect(erased.rules['rul_ada']?.wait).toMatchObject({ event: 4, previous: null });
    expect(nextDueOf(erased)).toBe(30);
  });

  it('loses totals and distinct values that name the person, and keeps others', () => {
    expect(erased.rules['rul_ada']?.kept).toBeUndefined();
    expect(erased.rules['rul_total']?.kept).toEqual({ total: { by: ['ada@example.com'] } });
    expect(JSON.stringify(erased)).not.toContain('bob@');
  });

  it('keeps the cooldown of a rule and its other totals, so that the erasure notifies nobody again', () => {
    const bob = { definition: 'a.b', at: [5], values: ['bob@example.com'], bytes: 240 };
    const ada = { definition: 'c.d', at: [5], bytes: 218 };
    const cooldown = { firedAt: 6 };
    const rules = { rul_people: { since: 1, kept: { totals: { people: bob, events: ada }, cooldown } } };
    const { rules: left } = eraseMemory({ ...memory, rules }, matcher, isOfPerson);
    expect(left['rul_people']).toEqual({ since: 1, kept: { totals: { events: ada }, cooldown } });
    const alone = { rul_people: { since: 1, kept: { totals: { people: bob }, cooldown } } };
    expect(eraseMemory({ ...memory, rules: alone }, matcher, isOfPerson).rules['rul_people']?.kept).toEqual({
      cooldown,
    });
  });

  it('is unchanged if it holds nothing about the person', () => {
    expect(eraseMemory(erased, matcher, isOfPerson)).toBe(erased);
  });
});
