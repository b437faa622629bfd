import type { AttemptId, DeliveryId } from '@carillon/kernel';
import { deliveryOf, outcomeOf, type LedgerSend } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import type { Evidence, RecordedChange } from './evidence.ts';
import { ANSWERED_AT, memberIs, orderIs, TO, watchedOrderIs } from './forged-evidence.ts';
import { SETTLED_WITHIN } from './settle.ts';
import { judge, type Course } from './verdict.ts';

/** The audit, which sees most of these too and in its own way, is tested by itself (audit.test.ts). */
const kinds = (course: Course, evidence: Evidence): readonly string[] =>
  judge(course, evidence)
    .map(({ kind }) => kind)
    .filter((kind) => kind !== 'gap');

describe('The verdict', () => {
  it('finds nothing where every order was sent once', () => {
    const { course, evidence } = orderIs();
    expect(judge(course, evidence)).toEqual([]);
  });

  it('finds lost what is not on the log, made no intent, is in nobody’s custody, or was never mailed', () => {
    const { course, evidence } = orderIs();
    expect(kinds(course, { ...evidence, events: new Map() })).toEqual(['lost']);
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
    expect(kinds(silent, { ...nothing, events: new Map() })).toEqual(['lost']);
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

  it('finds stuck a projection or a sweeper that stood still, though all was sent and a stop set it right', () => {
    const { course, evidence } = orderIs();
    for (const what of ['control on carillon.outcomes/1: 4 of 5 read', 'dlv_1: an outcome is not on the log']) {
      expect(kinds({ ...course, leftOpen: [what] }, evidence)).toEqual(['stuck']);
    }
  });

  it('finds lost a duplicate that nobody is told of', () => {
    const { course, evidence, delivery } = orderIs();
    const second = deliveryOf({ slot: delivery.slot }).intent;
    const acknowledged = { eventId: second.eventId, subject: 'order-1', to: TO, fires: true, asks: false };
    const judged = [...delivery.judged, second.id];
    const both = {
      ...evidence,
      events: new Map([...evidence.events, ['carillon.events/0@2', second.eventId]]),
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

  it('finds late what came to rest later than is promised', () => {
    const { course, evidence } = orderIs();
    expect(kinds({ ...course, settledAfter: SETTLED_WITHIN }, evidence)).toEqual([]);
    expect(kinds({ ...course, settledAfter: SETTLED_WITHIN + 1 }, evidence)).toEqual(['late']);
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

  it('wants for each doubt whose lease ran out a kill while its call was under way, as the mail server has it', () => {
    const startedAt = 50_000;
    const attempt = { id: 'att_1' as AttemptId, token: 't', account: 'email', startedAt, endedAt: null, result: null };
    const { course, evidence, delivery } = orderIs({ state: 'IN_DOUBT', reason: 'lease_ran_out', attempts: [attempt] });
    const send = {
      from: startedAt + 10,
      until: startedAt + 2_000,
      ending: 'broken',
      message_id: `<${delivery.id}.1@example.com>`,
    } as const;
    const killedAt = (moment: number, sends: readonly LedgerSend[]) =>
      kinds({ ...course, callsAtKills: { sends, kills: [{ from: moment, until: moment }] } }, evidence);
    expect(killedAt(startedAt + 1_000, [send])).toEqual([]);
    expect(killedAt(send.until + 500, [send])).toEqual([]);
    expect(killedAt(send.until + 501, [send])).toEqual(['doubt']);
    expect(killedAt(startedAt - 1, [send])).toEqual(['doubt']);
    // Killed before the mail server heard of it: then not long before.
    expect(killedAt(startedAt + 500, [])).toEqual([]);
    expect(killedAt(startedAt + 501, [])).toEqual(['doubt']);
    // A send of somebody else is no excuse, and no kill none.
    expect(killedAt(startedAt + 1_000, [{ ...send, message_id: '<dlv_other.1@example.com>' }])).toEqual(['doubt']);
    expect(kinds({ ...course, callsAtKills: { sends: [send], kills: [] } }, evidence)).toEqual(['doubt']);
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
    const toNobody = sent.course.acknowledged.map((event) => ({ ...event, to: null }));
    expect(kinds({ ...sent.course, acknowledged: toNobody }, sent.evidence)).toEqual(['untrue']);
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
    const before = { ...call, callId: 'req_0', at: call.at - 20_100, endedAt: call.at - 20_000 };
    const calls = [before, call];
    // Half a second is what it may take to write an answer down, where the run shows nothing slower.
    const at = (moment: number) => ({ ...course, partner: { calls, cuts: [{ from: moment, until: moment }] } });
    expect(kinds(at(before.at), evidence)).toEqual([]);
    expect(kinds(at(before.endedAt + 500), evidence)).toEqual([]);
    expect(kinds(at(before.endedAt + 501), evidence)).toEqual(['asked']);
    expect(kinds(at(before.at - 501), evidence)).toEqual(['asked']);
    // Two at once are one too many for one cut.
    const three = [{ ...before, callId: 'req_1' }, ...calls];
    const once = { calls: three, cuts: [{ from: before.at, until: before.at }] };
    expect(kinds({ ...course, partner: once }, evidence)).toEqual(['asked']);
    // What the run shows to be slow is excused up to its double, and never beyond two seconds.
    const slowly = (took: number) => ({ ...evidence, lookups: [{ ...record, at: call.endedAt + took }] });
    expect(kinds(at(before.endedAt + 1_400), slowly(700))).toEqual([]);
    expect(kinds(at(before.endedAt + 1_401), slowly(700))).toEqual(['asked']);
    expect(kinds(at(before.endedAt + 2_001), slowly(9_000))).toEqual(['asked']);
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
    expect(kinds(course, { ...evidence, changes: [change] })).toEqual(['lost', 'untrue']);
    expect(kinds(course, { ...evidence, changes: [first] })).toContain('lost');
    const twin = { ...first, eventId: 'evt_twin' };
    const events = new Map([...evidence.events, ['carillon.events/0@2', twin.eventId]]);
    expect(kinds(course, { ...evidence, events, changes: [change, first, twin] })).toEqual(['twice']);
    const left: RecordedChange = { ...twin, kind: 'left' };
    expect(kinds(course, { ...evidence, events, changes: [change, first, left] })).toEqual(['untrue']);
  });

  it('finds somebody who is told of the first sync', () => {
    const { course, evidence } = memberIs();
    const told = { ...course, changes: [], firstMembers: ['first-1', 'member-1'] };
    expect(kinds(told, evidence)).toEqual(['lost', 'untrue']);
  });

  it('finds untrue an event on the log that nobody said', () => {
    const { course, evidence } = orderIs();
    const events = new Map([...evidence.events, ['carillon.events/0@2', 'evt_of_nobody']]);
    expect(kinds(course, { ...evidence, events })).toEqual(['untrue']);
  });

  it('holds the audit against the same evidence', () => {
    const { course, evidence } = orderIs();
    const parked = { ...course, acknowledged: course.acknowledged.map((event) => ({ ...event, parks: true })) };
    const [eventId = null] = evidence.events.values();
    const letter = { what: 'ask partner_refused', eventId };
    const what = `a dead letter: ask partner_refused ${eventId}`;
    expect(judge(course, { ...evidence, deadLetters: [letter] })).toEqual([{ kind: 'gap', what }]);
    expect(judge(parked, { ...evidence, deadLetters: [letter] })).toEqual([]);
  });
});
