import { dayOf, type MissingLookup, type MissingMessage } from '@carillon/domain/runs';
import { isCarillonError, parseDuration, type DeliveryId, type EventId, type RunId } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countMissing, refuseChanged, refuseTooMany, tooManyMissing, type FoundMissing } from '../src/runs/missing.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const messageArb: fc.Arbitrary<MissingMessage> = fc
  .record({
    slot: fc.integer({ min: 0, max: 10_000 }),
    event: fc.integer({ min: 0, max: 20 }),
    person: fc.integer({ min: 0, max: 8 }),
    rule: fc.constantFrom('order-paid.paid', 'welcome.signed-up', 'welcome.returned'),
  })
  .map(({ slot, event, person, rule }) => messageOf({ slot: `dlv_${slot}`, event, person: `hash ${person}`, rule }));

type Given = { readonly slot: string; readonly event?: number; readonly person?: string; readonly rule?: string };
function messageOf({ slot, event = 1, person = 'hash 1', rule = 'order-paid.paid' }: Given): MissingMessage {
  const at = event * HOUR;
  return {
    slot: slot as DeliveryId,
    row: {
      run: 'run_1' as RunId,
      slot: slot as DeliveryId,
      difference: 'added',
      oldSlot: null,
      ruleId: 'rul_1',
      rule,
      channel: 'email',
      eventId: `evt_${event}` as EventId,
      position: `carillon.events/0@${event}`,
      at,
      day: dayOf(at),
      person,
      slotState: 'none',
      slotReason: null,
    },
  };
}

const lookupOf = (event: number, rule = 'order-paid.paid', userIds = 2): MissingLookup => ({
  eventId: `evt_${event}` as EventId,
  position: `carillon.events/0@${event}`,
  at: event * HOUR,
  rule,
  userIds,
});

const found = (more: Partial<FoundMissing>): FoundMissing => ({
  messages: [],
  lookups: [],
  tooOld: new Set(),
  ...more,
});
const slots = fc.uniqueArray(messageArb, { selector: ({ slot }) => slot, maxLength: 40 });

describe('the counts of missing messages', () => {
  it('do not depend on the order in which messages are found', () => {
    fc.assert(
      fc.property(slots, (messages) => {
        expect(countMissing(found({ messages: messages.toReversed() }))).toEqual(countMissing(found({ messages })));
      }),
    );
  });

  it('keep messages of an event together, oldest event first', () => {
    fc.assert(
      fc.property(slots, (messages) => {
        const events = countMissing(found({ messages })).messages.map(({ row }) => row.at);
        expect(events).toEqual(events.toSorted((a, b) => a - b));
      }),
    );
  });

  it('add up: each message is in its rule, and no person counts twice in a rule or in all', () => {
    fc.assert(
      fc.property(slots, (messages) => {
        const { byRule, count, people } = countMissing(found({ messages }));
        expect(byRule.reduce((sum, { messages: sent }) => sum + sent, 0)).toBe(count);
        expect(people).toBe(new Set(messages.map(({ row }) => row.person)).size);
        for (const { rule, people: notified } of byRule) {
          const ofRule = messages.filter(({ row }) => row.rule === rule);
          expect(notified).toBe(new Set(ofRule.map(({ row }) => row.person)).size);
        }
      }),
    );
  });

  it('have a checksum that differs whenever the slots differ', () => {
    fc.assert(
      fc.property(slots, slots, (a, b) => {
        const text = (messages: readonly MissingMessage[]) =>
          JSON.stringify(messages.map(({ slot }) => slot).toSorted());
        const isSame = countMissing(found({ messages: a })).checksum === countMissing(found({ messages: b })).checksum;
        expect(isSame).toBe(text(a) === text(b));
      }),
    );
  });

  it('count lookups by event, and their user ids', () => {
    const lookups = [lookupOf(2), lookupOf(1), lookupOf(1, 'welcome.returned', 3)];
    const counted = countMissing(found({ lookups, messages: [messageOf({ slot: 'a', event: 5 })] }));
    expect(counted).toMatchObject({
      count: 4,
      people: 1,
      needsLookup: { events: 2, userIds: 7 },
      oldest: HOUR,
      newest: 5 * HOUR,
    });
    expect(counted.lookups.map(({ at }) => at / HOUR)).toEqual([1, 1, 2]);
    const fewer = countMissing(found({ lookups: lookups.slice(1), messages: counted.messages }));
    expect(fewer.checksum).not.toBe(counted.checksum);
  });

  it('are zero without messages', () => {
    const none = countMissing(found({ tooOld: new Set(['evt_1' as EventId]) }));
    expect(none).toMatchObject({ count: 0, people: 0, byRule: [], oldest: null, newest: null, tooOld: 1 });
  });
});

const refusalOf = (act: () => void): string | null => {
  try {
    act();
    return null;
  } catch (error) {
    return isCarillonError(error) ? `${error.code}: ${error.detail}` : String(error);
  }
};

describe('the confirmation of missing messages', () => {
  const missing = countMissing(found({ messages: [messageOf({ slot: 'a' }), messageOf({ slot: 'b' })] }));

  it('holds for the same number and checksum', () => {
    expect(refusalOf(() => refuseChanged(missing, missing))).toBeNull();
  });

  it('is refused for another number, and for the right number with another checksum', () => {
    const { checksum } = missing;
    expect(refusalOf(() => refuseChanged(missing, { count: 3, checksum }))).toMatch(
      /^conflict: 2 messages are missing now, and 3 were confirmed/,
    );
    const asking = countMissing(found({ messages: missing.messages, lookups: [lookupOf(1)] }));
    expect(refusalOf(() => refuseChanged(asking, missing))).toMatch(
      /^conflict: 3 messages and questions to a partner are missing now, and 2 were confirmed/,
    );
    const other = countMissing(found({ messages: [messageOf({ slot: 'a' }), messageOf({ slot: 'c' })] }));
    expect(refusalOf(() => refuseChanged(missing, other))).toMatch(
      /^conflict: as many messages are missing as before \(2\), but others/,
    );
  });
});

describe('the refusal of too many messages', () => {
  it('suggests a maximum age that excludes the excess events', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2_000, max: 30 * DAY }), (age) => {
        const now = 100 * DAY;
        const error = tooManyMissing(now - age, now);
        expect(isCarillonError(error) && error.code).toBe('wrong_state');
        const named = /maximum age of (\w+),/.exec(error.detail)?.[1] ?? '';
        const limit = parseDuration(named);
        expect(limit.ok && limit.value).toBeGreaterThan(0);
        expect(limit.ok && limit.value).toBeLessThan(age);
      }),
    );
  });

  it('counts lookups and messages together, newest first', () => {
    const lookups = Array.from({ length: 6_000 }, (_, index) => lookupOf(5, `order-paid.rule-${index}`));
    const messages = Array.from({ length: 4_000 }, (_, index) => messageOf({ slot: `dlv_${index}`, event: 3 }));
    expect(refusalOf(() => refuseTooMany({ messages, lookups }, 8 * HOUR))).toBeNull();
    const older = [...messages, messageOf({ slot: 'dlv_more', event: 2 })];
    const refusal = refusalOf(() => refuseTooMany({ messages: older, lookups }, 8 * HOUR));
    expect(refusal).toMatch(/^wrong_state: more than 10000 .* with a maximum age of 5h,/);
  });
});
