import type { Delivery } from '@carillon/domain';
import type { DeliveryId } from '@carillon/kernel';
import { deliveryOf, outcomeOf, type DeliveryFacts, type LedgerEntry } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import type { Evidence } from './evidence.ts';
import { chainEnd, judge, type Course } from './verdict.ts';

const TO = 'customer-1@example.org';
const RANGE = { from: 0, to: 3 };

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
      acknowledged: [{ eventId, idempotencyKey: 'key-1', uniqueId: 'order-1', to: TO, fires: true }],
      mail: [letter],
      callsAtKills: 0,
    },
    evidence: {
      events: new Set([eventId]),
      intents: [delivery.intent],
      deliveries: [delivery],
      outcomes: [outcomeOf(delivery)],
      evaluations: [],
      deadLetters: 0,
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

  it('finds lost a duplicate that nobody is told of', () => {
    const { course, evidence, delivery } = orderIs();
    const second = deliveryOf({ slot: delivery.slot }).intent;
    const acknowledged = { eventId: second.eventId, idempotencyKey: 'key-2', uniqueId: 'order-1', to: TO, fires: true };
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
  });

  it('finds untrue a failure whose message was taken, a message to somebody else, and an end without an outcome', () => {
    const failed = orderIs({ state: 'FAILED', reason: 'refused_content' });
    expect(kinds(failed.course, failed.evidence)).toEqual(['untrue']);
    const { course, evidence, letter } = orderIs();
    expect(kinds({ ...course, mail: [{ ...letter, to: ['else@example.org'] }] }, evidence)).toEqual(['untrue']);
    expect(kinds(course, { ...evidence, outcomes: [] })).toEqual(['untrue']);
  });

  it('follows evaluation ranges that begin where another ended, over those of a batch done twice, up to a gap', () => {
    expect(chainEnd([RANGE, { from: 3, to: 5 }], 0, 5)).toBe(5);
    expect(chainEnd([RANGE, { from: 0, to: 2 }, { from: 2, to: 5 }], 0, 5)).toBe(5);
    expect(chainEnd([RANGE, { from: 4, to: 5 }], 0, 5)).toBe(3);
    expect(chainEnd([], 0, 0)).toBe(0);
    const { course, evidence } = orderIs();
    expect(kinds(course, { ...evidence, judged: [{ partition: 0, start: 0, next: 5 }] })).toEqual(['gap']);
    expect(kinds(course, { ...evidence, deadLetters: 1 })).toEqual(['gap']);
  });
});
