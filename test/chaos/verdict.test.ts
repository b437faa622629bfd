import type { Delivery } from '@carillon/domain';
import type { DeliveryId } from '@carillon/kernel';
import { deliveryOf, outcomeOf, type DeliveryFacts, type LedgerEntry } from '@carillon/testing';
import { givenLookup, givenTrigger } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import type { Evidence, RecordedChange, RecordedLookup } from './evidence.ts';
import { addressOf, type BookedCall } from './partner.ts';
import { chainEnd, judge, type Course } from './verdict.ts';

const TO = 'customer-1@example.org';
const RANGE = { from: 0, to: 3 };

const ASKED = 'user-1';
const ANSWERED_AT = 1_000;

/** The same order, where a partner says who is told: one call, answered, and its answer on the log. */
function watchedOrderIs(facts: DeliveryFacts = {}) {
  const { course, evidence, letter, delivery } = orderIs(facts);
  const { eventId } = delivery.intent;
  const lookup = givenLookup({ trigger: givenTrigger({ eventId, userIds: [ASKED] }) });
  const record: RecordedLookup = { lookup, at: ANSWERED_AT };
  const call: BookedCall = {
    callId: lookup.callId,
    userIds: [ASKED],
    at: ANSWERED_AT - 200,
    endedAt: ANSWERED_AT - 100,
    answered: true,
    refused: false,
  };
  return {
    delivery,
    letter,
    record,
    call,
    evidence: { ...evidence, lookups: [record] },
    course: {
      ...course,
      acknowledged: course.acknowledged.map((event) => ({ ...event, asks: true })),
      partner: { calls: [call], cuts: [] },
    } satisfies Course,
  };
}

/** Somebody who entered the cohort, with the event that was made of it, and one who was in it from the beginning. */
function memberIs() {
  const { course, evidence, delivery, letter, ...rest } = watchedOrderIs();
  const change: RecordedChange = { eventId: delivery.intent.eventId, kind: 'entered', user: 'member-1' };
  const first: RecordedChange = { eventId: 'evt_first', kind: 'entered', user: 'first-1' };
  return {
    ...rest,
    change,
    first,
    evidence: { ...evidence, events: new Set([...evidence.events, first.eventId]), changes: [change, first] },
    course: {
      ...course,
      acknowledged: [],
      changes: [{ kind: 'entered', user: 'member-1' }],
      firstMembers: ['first-1'],
      mail: [{ ...letter, subject: 'entered/member-1', to: [addressOf('member-1')] }],
    } satisfies Course,
  };
}

/** One order as it goes when all is well, or as the facts about its delivery say. */
function orderIs(facts: DeliveryFacts = {}): {
  course: Course;
  evidence: Evidence;
  delivery: Delivery;
  letter: LedgerEntry;
} {
  const slot = { uniqueId: 'order-1', ...facts.slot };
  const delivery = deliveryOf({ id: 'dlv_1' as DeliveryId, state: 'SENT', reason: 'accepted', ...facts, slot });
  const { eventId } = delivery.intent;
  const letter: LedgerEntry = {
    at: '2026-01-31T08:00:00.000Z',
    message_id: `<${delivery.id}.1@example.com>`,
    to: [TO],
    subject: 'order-1',
    headers: {},
    dropped: false,
  };
  return {
    delivery,
    letter,
    course: {
      acknowledged: [{ eventId, subject: 'order-1', to: TO, fires: true, asks: false }],
      changes: [],
      firstMembers: [],
      mail: [letter],
      callsAtKills: 0,
      partner: { calls: [], cuts: [] },
    },
    evidence: {
      events: new Set([eventId]),
      changes: [],
      lookups: [],
      intents: [delivery.intent],
      deliveries: [delivery],
      outcomes: [outcomeOf(delivery)],
      evaluations: [],
      deadLetters: [],
      judged: [],
      unread: [],
    },
  };
}

const kinds = (course: Course, evidence: Evidence): readonly string[] =>
  judge(course, evidence).map(({ kind }) => kind);

describe('The verdict', () => {
  it('finds nothing where every order was sent once', () => {
    const { course, evidence } = orderIs();
    expect(judge(course, evidence)).toEqual([]);
  });

  it('finds lost what is not on the log, made no intent, is in nobody’s custody, or was never mailed', () => {
    const { course, evidence } = orderIs();
    expect(kinds(course, { ...evidence, events: new Set() })).toEqual(['lost']);
    expect(kinds(course, { ...evidence, intents: [] })).toEqual(['lost']);
    expect(kinds(course, { ...evidence, deliveries: [] })).toContain('lost');
    expect(kinds({ ...course, mail: [] }, evidence)).toEqual(['lost']);
  });

  it('wants an event that fires nothing on the log, and no intent of it', () => {
    const { course, evidence } = orderIs();
    const silent = {
      ...course,
      acknowledged: course.acknowledged.map((event) => ({ ...event, fires: false })),
      mail: [],
    };
    const nothing = { ...evidence, intents: [], deliveries: [], outcomes: [] };
    expect(kinds(silent, nothing)).toEqual([]);
    expect(kinds(silent, { ...nothing, intents: evidence.intents })).toEqual(['lost']);
    expect(kinds(silent, { ...nothing, events: new Set() })).toEqual(['lost']);
  });

  it('finds lost what failed or was cancelled without a cause', () => {
    for (const state of ['FAILED', 'CANCELLED', 'SUPPRESSED', 'EXPIRED'] as const) {
      const { course, evidence } = orderIs({ state });
      const unsent = { ...course, mail: [] };
      expect(kinds(unsent, evidence)).toEqual(['lost']);
      const acknowledged = course.acknowledged.map((event) => ({ ...event, mayFail: true }));
      const caused = state === 'FAILED' || state === 'CANCELLED';
      expect(kinds({ ...unsent, acknowledged }, evidence)).toEqual(caused ? [] : ['lost']);
    }
  });

  it('finds stuck what was not read to its end, whatever was to come of it', () => {
    const { course, evidence } = orderIs();
    expect(kinds(course, { ...evidence, unread: ['carillon.events/3: 7 of 9 read'] })).toEqual(['stuck']);
  });

  it('finds lost a duplicate that nobody is told of', () => {
    const { course, evidence, delivery } = orderIs();
    const second = deliveryOf({ slot: delivery.slot }).intent;
    const acknowledged = { eventId: second.eventId, subject: 'order-1', to: TO, fires: true, asks: false };
    const judged = [...delivery.judged, second.id];
    const both = {
      ...evidence,
      events: new Set([...evidence.events, second.eventId]),
      intents: [...evidence.intents, second],
      deliveries: [{ ...delivery, judged }],
    };
    const later = { ...course, acknowledged: [...course.acknowledged, acknowledged] };
    expect(kinds(later, both)).toEqual(['lost']);
    const told = { ...outcomeOf(delivery), intentId: second.id, state: 'SUPPRESSED', reason: 'duplicate' } as const;
    expect(kinds(later, { ...both, outcomes: [...both.outcomes, told] })).toEqual([]);
  });

  it('finds two messages of one delivery, and two deliveries with one unique id', () => {
    const { course, evidence, delivery, letter } = orderIs();
    expect(kinds({ ...course, mail: [letter, letter] }, evidence)).toEqual(['twice', 'twice']);
    const twin = deliveryOf({ id: 'dlv_2' as DeliveryId, state: 'SENT', slot: delivery.slot });
    const twins = {
      ...evidence,
      deliveries: [twin, delivery],
      outcomes: [...evidence.outcomes, outcomeOf(twin)],
    };
    const mail = [letter, { ...letter, message_id: `<${twin.id}.1@example.com>` }];
    expect(kinds({ ...course, mail }, twins)).toEqual(['twice']);
  });

  it('finds stuck what waits or is being sent at the end', () => {
    for (const state of ['WAITING', 'SENDING'] as const) {
      const { course, evidence } = orderIs({ state });
      expect(kinds({ ...course, mail: [] }, evidence)).toEqual(['stuck']);
    }
  });

  it('allows as many doubts as there were calls at kills, and answers kept back', () => {
    const killed = orderIs({ state: 'IN_DOUBT', reason: 'lease_ran_out' });
    expect(kinds({ ...killed.course, callsAtKills: 1 }, killed.evidence)).toEqual([]);
    expect(kinds(killed.course, killed.evidence)).toEqual(['doubt']);
    const dropped = orderIs({ state: 'IN_DOUBT', reason: 'answer_unknown' });
    const mail = [{ ...dropped.letter, dropped: true }];
    expect(kinds({ ...dropped.course, mail }, dropped.evidence)).toEqual([]);
    expect(kinds(dropped.course, dropped.evidence)).toEqual(['doubt']);
    // An answer that a failpoint took away excuses one doubt, and no more.
    const taken = { ...dropped.course, answersLost: 1 };
    expect(kinds(taken, dropped.evidence)).toEqual([]);
    expect(kinds({ ...taken, answersLost: 0 }, dropped.evidence)).toEqual(['doubt']);
  });

  it('finds untrue a failure whose message was taken, a message to somebody else, and an end without an outcome', () => {
    const failed = orderIs({ state: 'FAILED', reason: 'refused_content' });
    expect(kinds(failed.course, failed.evidence)).toEqual(['lost', 'untrue']);
    const { course, evidence, letter } = orderIs();
    expect(kinds({ ...course, mail: [{ ...letter, to: ['else@example.org'] }] }, evidence)).toEqual(['untrue']);
    expect(kinds(course, { ...evidence, outcomes: [] })).toEqual(['untrue']);
  });

  it('finds lost what was to be told and is suppressed; without an address it has to be', () => {
    const suppressed = { state: 'SUPPRESSED', reason: 'no_address' } as const;
    const { course, evidence } = orderIs(suppressed);
    expect(kinds({ ...course, mail: [] }, evidence)).toEqual(['lost']);
    const nowhere = course.acknowledged.map((event) => ({ ...event, to: null }));
    expect(kinds({ ...course, acknowledged: nowhere, mail: [] }, evidence)).toEqual([]);
    const sent = orderIs();
    expect(kinds({ ...sent.course, acknowledged: nowhere }, sent.evidence)).toEqual(['lost', 'untrue']);
  });

  it('wants an answer of the partner on the log for each event that asks, and for no other', () => {
    const { course, evidence } = watchedOrderIs();
    expect(kinds(course, evidence)).toEqual([]);
    expect(kinds(course, { ...evidence, lookups: [] })).toEqual(['lost']);
    const plain = course.acknowledged.map((event) => ({ ...event, asks: false }));
    expect(kinds({ ...course, acknowledged: plain }, evidence)).toEqual(['lost']);
  });

  it('finds two messages made of one event, even where neither is sent', () => {
    const { course, evidence, delivery } = watchedOrderIs();
    const twin = { ...delivery.intent, id: 'int_other' as typeof delivery.intent.id };
    expect(kinds(course, { ...evidence, intents: [twin, delivery.intent] })).toEqual(['twice']);
    expect(kinds(course, { ...evidence, intents: [delivery.intent, delivery.intent] })).toEqual([]);
  });

  it('finds a partner asked once its answer is on the log, or two answers; the same record twice is none', () => {
    const { course, evidence, record, call } = watchedOrderIs();
    const late = { ...call, callId: 'req_2', at: ANSWERED_AT + 1, endedAt: ANSWERED_AT + 2 };
    // Not even a kill excuses it.
    const cuts = [{ from: 0, until: 2 * ANSWERED_AT }];
    expect(kinds({ ...course, partner: { calls: [call, late], cuts } }, evidence)).toEqual(['asked']);
    const again = { ...record, at: record.at + 1 };
    expect(kinds(course, { ...evidence, lookups: [record, again] })).toEqual([]);
    const other = { ...again, lookup: { ...again.lookup, callId: 'req_2' } };
    expect(kinds(course, { ...evidence, lookups: [record, other] })).toEqual(['asked']);
  });

  it('allows a call that the product does not know where it was under way at a cut, and nowhere else', () => {
    const { course, evidence, record, call } = watchedOrderIs();
    const before = { ...call, callId: 'req_0', at: call.at - 500, endedAt: call.at - 400 };
    const calls = [before, call];
    const during = [{ from: before.endedAt, until: before.endedAt + 1 }];
    const between = [{ from: before.endedAt + 1, until: call.at - 1 }];
    expect(kinds({ ...course, partner: { calls, cuts: during } }, evidence)).toEqual([]);
    expect(kinds({ ...course, partner: { calls, cuts: between } }, evidence)).toEqual(['asked']);
    // A call that the product knows of was repeated for a reason.
    const known = [{ ...record, lookup: { ...record.lookup, calls: 2 } }];
    expect(kinds({ ...course, partner: { calls, cuts: [] } }, { ...evidence, lookups: known })).toEqual([]);
  });

  it('finds untrue an answer on the log that the partner never gave', () => {
    const { course, evidence, call } = watchedOrderIs();
    const cut = { calls: [{ ...call, answered: false }], cuts: [] };
    expect(kinds({ ...course, partner: cut }, evidence)).toEqual(['untrue']);
  });

  it('finds a change of the cohort without an event, with two, and an event without a change', () => {
    const { course, evidence, change, first } = memberIs();
    expect(kinds(course, evidence)).toEqual([]);
    expect(kinds(course, { ...evidence, changes: [change, change, first] })).toEqual([]);
    expect(kinds(course, { ...evidence, changes: [change] })).toEqual(['lost']);
    expect(kinds(course, { ...evidence, changes: [first] })).toContain('lost');
    const twin = { ...first, eventId: 'evt_twin' };
    const events = new Set([...evidence.events, twin.eventId]);
    expect(kinds(course, { ...evidence, events, changes: [change, first, twin] })).toEqual(['twice']);
    const left: RecordedChange = { ...twin, kind: 'left' };
    expect(kinds(course, { ...evidence, events, changes: [change, first, left] })).toEqual(['untrue']);
  });

  it('finds somebody who is told of the first sync', () => {
    const { course, evidence } = memberIs();
    const told = { ...course, changes: [], firstMembers: ['first-1', 'member-1'] };
    expect(kinds(told, evidence)).toEqual(['lost', 'untrue']);
  });

  it('follows evaluation ranges that begin where another ended, over those of a batch done twice, up to a gap', () => {
    expect(chainEnd([RANGE, { from: 3, to: 5 }], 0, 5)).toBe(5);
    expect(chainEnd([RANGE, { from: 0, to: 2 }, { from: 2, to: 5 }], 0, 5)).toBe(5);
    expect(chainEnd([RANGE, { from: 4, to: 5 }], 0, 5)).toBe(3);
    expect(chainEnd([], 0, 0)).toBe(0);
    const { course, evidence } = orderIs();
    expect(kinds(course, { ...evidence, judged: [{ partition: 0, start: 0, next: 5 }] })).toEqual(['gap']);
  });

  it('finds what was given up, but for what the partner refused: of that it wants a dead letter', () => {
    const { course, evidence } = orderIs();
    const parked = { ...course, acknowledged: course.acknowledged.map((event) => ({ ...event, parks: true })) };
    const letter = { what: 'ask partner_refused', eventId: course.acknowledged[0]?.eventId ?? null };
    expect(kinds(course, { ...evidence, deadLetters: [letter] })).toEqual(['gap']);
    expect(kinds(course, { ...evidence, deadLetters: [{ what: 'evaluate not_avro', eventId: null }] })).toEqual([
      'gap',
    ]);
    expect(kinds(parked, { ...evidence, deadLetters: [letter, letter] })).toEqual([]);
    expect(kinds(parked, evidence)).toEqual(['gap']);
  });
});
