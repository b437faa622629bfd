import type { Delivery } from '@carillon/domain/deliveries';
import type { Evaluation } from '@carillon/domain/events';
import type { DeliveryId } from '@carillon/kernel';
import { deliveryOf, outcomeOf, type DeliveryFacts, type LedgerEntry } from '@carillon/testing';
import { givenLookup, givenTrigger } from '@carillon/testing/given';
import type { Evidence, RecordedChange, RecordedLookup } from './evidence.ts';
import { addressOf, type BookedCall } from '../chaos/partner.ts';
import type { Course } from '../chaos/verdict.ts';

export const TO = 'customer-1@example.org';
const ASKED = 'user-1';
export const ANSWERED_AT = 1_000;

/** Read from its beginning; the event of an order stands second. */
const RANGE = { partition: 0, start: 0, next: 2 };
const FIRST_AT = 'carillon.events/0@0';

/** What the engine says of that range. */
const evaluationOf = (counts: Partial<Pick<Evaluation, 'events' | 'intents' | 'triggers'>>): Evaluation => ({
  partition: RANGE.partition,
  from: RANGE.start,
  to: RANGE.next,
  configNumber: 3,
  events: 0,
  intents: 0,
  triggers: 0,
  late: 0,
  duplicates: 0,
  deadLetters: 0,
  repeated: 0,
  rules: [],
  at: 20,
  ...counts,
});

/** The same order, where a partner says who is told: one call, answered, and its answer on the log. */
export function watchedOrderIs(facts: DeliveryFacts = {}) {
  const { course, evidence, letter, delivery } = orderIs(facts);
  const { eventId } = delivery.intent;
  const { triggerId: id, eventPosition } = delivery.intent;
  const trigger = givenTrigger({ id, eventId, eventPosition, userIds: [ASKED] });
  const lookup = givenLookup({ trigger });
  const record: RecordedLookup = { lookup, at: ANSWERED_AT };
  const call: BookedCall = {
    callId: lookup.callId,
    userIds: [ASKED],
    port: 1,
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
    trigger,
    evidence: {
      ...evidence,
      triggers: [trigger],
      lookups: [record],
      evaluations: [evaluationOf({ events: 1, triggers: 1 })],
    },
    course: {
      ...course,
      acknowledged: course.acknowledged.map((event) => ({ ...event, asks: true })),
      partner: { calls: [call], cuts: [] },
    } satisfies Course,
  };
}

/** Somebody who entered the cohort, with the event that was made of it, and one who was in it from the beginning. */
export function memberIs() {
  const { course, evidence, delivery, letter, ...rest } = watchedOrderIs();
  const change: RecordedChange = { eventId: delivery.intent.eventId, kind: 'entered', user: 'member-1' };
  const first: RecordedChange = { eventId: 'evt_first', kind: 'entered', user: 'first-1' };
  return {
    ...rest,
    change,
    first,
    evidence: {
      ...evidence,
      events: new Map([...evidence.events, [FIRST_AT, first.eventId]]),
      changes: [change, first],
      evaluations: [evaluationOf({ events: 2, triggers: 1 })],
    },
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
export function orderIs(facts: DeliveryFacts = {}): {
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
      atKills: { sends: [], kills: [] },
      partner: { calls: [], cuts: [] },
    },
    evidence: {
      events: new Map([[delivery.intent.eventPosition, eventId]]),
      changes: [],
      triggers: [],
      lookups: [],
      intents: [delivery.intent],
      deliveries: [delivery],
      outcomes: [outcomeOf(delivery)],
      evaluations: [evaluationOf({ events: 1, intents: 1 })],
      deadLetters: [],
      judged: [RANGE],
      unread: [],
    },
  };
}
