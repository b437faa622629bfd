import type { AttemptId, DeliveryId, TriggerId } from '@carillon/kernel';
import { deliveryOf, outcomeOf, type LedgerSend } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { coverageOf, showsTooLittle } from './coverage.ts';
import type { Cut } from './cuts.ts';
import { findDoubts, type LostAnswers } from './doubts.ts';
import type { Evidence, RecordedChange } from '../harness/evidence.ts';
import { ANSWERED_AT, memberIs, orderIs, TO, watchedOrderIs } from '../harness/forged-evidence.ts';
import type { BookedCall } from './partner.ts';
import { SETTLED_WITHIN } from './settle.ts';
import { tolerancesOf } from './kill-tolerance.ts';
import { findLate, judge, type Course } from './verdict.ts';

/** The audit, which sees most of these too and in its own way, is tested by itself (audit.proof.test.ts). */
const kinds = (course: Course, evidence: Evidence): readonly string[] =>
  judge(course, evidence)
    .map(({ kind }) => kind)
    .filter((kind) => kind !== 'gap');

/** Answers about other people, one every 40 ms up to that moment, each written down so long after the partner gave it. */
function answersUntil(until: number, lag: number, span = 5_000) {
  const moments = Array.from({ length: span / 40 }, (_, at) => until - span + (at + 1) * 40);
  const written = moments.map((at) => {
    const { record, call } = watchedOrderIs();
    const trigger = { ...record.lookup.trigger, id: `trg_${at}` as TriggerId, userIds: [`user-${at}`] };
    const asked = { callId: `req_${at}`, userIds: trigger.userIds, at: at - lag - 5, endedAt: at - lag };
    return {
      call: { ...call, ...asked },
      lookup: { lookup: { ...record.lookup, trigger, callId: asked.callId }, at },
    };
  });
  return { calls: written.map(({ call }) => call), lookups: written.map(({ lookup }) => lookup) };
}

describe('The verdict', () => {
  it('finds nothing where every order was sent once', () => {
    const { course, evidence } = orderIs();
    expect(judge(course, evidence)).toEqual([]);
  });

  it('finds lost what is not on the log, made no intent, or is in nobody’s custody', () => {
    const { course, evidence } = orderIs();
    expect(kinds(course, { ...evidence, events: new Map() })).toEqual(['lost']);
    expect(kinds(course, { ...evidence, intents: [] })).toEqual(['lost']);
    expect(kinds(course, { ...evidence, deliveries: [] })).toContain('lost');
  });

  it('requires an event that fires nothing to be logged without an intent', () => {
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

  it('reports unread records as stuck, whatever they contain', () => {
    const { course, evidence } = orderIs();
    expect(kinds(course, { ...evidence, unread: ['carillon.events/3: 7 of 9 read'] })).toEqual(['stuck']);
  });

  it('reports a stopped projection or sweeper as stuck, even if all was sent and a restart fixed it', () => {
    const { course, evidence } = orderIs();
    for (const what of ['control on carillon.outcomes/1: 4 of 5 read', 'dlv_1: an outcome is not on the log']) {
      expect(kinds({ ...course, leftOpen: [what] }, evidence)).toEqual(['stuck']);
    }
  });

  it('reports an unrecorded duplicate as lost', () => {
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
    expect(findLate(SETTLED_WITHIN + 1, 'lease.acquire.before: kill: over')).toHaveLength(1);
  });

  it('requires for each doubt about an unknown answer that its own message was dropped', () => {
    const { course, evidence, letter } = orderIs({ state: 'IN_DOUBT', reason: 'answer_unknown' });
    expect(kinds({ ...course, mail: [{ ...letter, dropped: true }] }, evidence)).toEqual([]);
    expect(kinds(course, evidence)).toEqual(['doubt']);
    // Somebody else's drop, of a delivery that a kill cut off: a count would lend it.
    const other = { ...letter, message_id: '<dlv_other.1@example.com>', subject: 'order-2', dropped: true };
    expect(kinds({ ...course, mail: [letter, other] }, evidence)).toContain('doubt');
  });

  it('or that its answer was cut during the call: one cut per doubt', () => {
    const { course, evidence, delivery } = orderIs({ state: 'IN_DOUBT', reason: 'answer_unknown' });
    const inDoubt = (id: string, startedAt: number, endedAt: number) => ({
      ...delivery,
      id: id as DeliveryId,
      attempts: [
        { id: 'att_1' as AttemptId, token: 't', account: 'email', to: null, startedAt, endedAt, result: null },
      ],
    });
    const found = (doubts: readonly ReturnType<typeof inDoubt>[], ...answersLost: readonly LostAnswers[]) =>
      findDoubts({ ...course, answersLost }, { ...evidence, deliveries: doubts }, () => 0).map(({ what }) =>
        what.slice(0, 5),
      );
    const one = inDoubt('dlv_1', 1_000, 2_000);
    expect(found([one], { from: 1_500, until: 1_510, most: 1 })).toEqual([]);
    expect(found([one], { from: 2_001, until: 2_010, most: 1 })).toEqual(['dlv_1']);
    expect(found([one], { from: 900, until: 999, most: 1 })).toEqual(['dlv_1']);
    // Two connections reset at once excuse two, and one of them one.
    const two = inDoubt('dlv_2', 1_000, 3_000);
    expect(found([one, two], { from: 1_500, until: 1_510, most: 1 })).toEqual(['dlv_2']);
    expect(found([one, two], { from: 1_500, until: 1_510, most: 2 })).toEqual([]);
    // And each gets its own, whoever comes first.
    const later = { from: 2_500, until: 2_510, most: 1 };
    expect(found([two, one], { from: 1_500, until: 1_510, most: 1 }, later)).toEqual([]);
  });

  it('wants for each doubt whose lease ran out a kill while its call was under way, as the mail server has it', () => {
    const startedAt = 50_000;
    const attempt = {
      id: 'att_1' as AttemptId,
      token: 't',
      account: 'email',
      to: null,
      startedAt,
      endedAt: null,
      result: null,
    };
    const { course, evidence, delivery } = orderIs({ state: 'IN_DOUBT', reason: 'lease_ran_out', attempts: [attempt] });
    const send = {
      from: startedAt + 10,
      until: startedAt + 2_000,
      port: 1,
      ending: 'broken',
      message_id: `<${delivery.id}.1@example.com>`,
    } as const;
    const killedAt = (moment: number, sends: readonly LedgerSend[], spares?: string) => {
      const kill = { from: moment, until: moment, ...(spares !== undefined && { spares }) };
      return findDoubts({ ...course, atKills: { sends, kills: [kill] } }, evidence, () => 200).length;
    };
    expect(killedAt(startedAt + 1_000, [send])).toBe(0);
    expect(killedAt(send.until + 200, [send])).toBe(0);
    expect(killedAt(send.until + 201, [send])).toBe(1);
    expect(killedAt(startedAt - 1, [send])).toBe(1);
    // Killed before the mail server heard of it: then not long before.
    expect(killedAt(startedAt + 200, [])).toBe(0);
    expect(killedAt(startedAt + 201, [])).toBe(1);
    // A send of somebody else is no excuse, and no kill none.
    expect(killedAt(startedAt + 1_000, [{ ...send, message_id: '<dlv_other.1@example.com>' }])).toBe(1);
    expect(kinds({ ...course, atKills: { sends: [send], kills: [] } }, evidence)).toEqual(['doubt']);
    // Nor one that came when its own call cannot have been under way, by the place at which it came.
    expect(killedAt(startedAt + 1_000, [send], delivery.id)).toBe(1);
    expect(killedAt(startedAt + 1_000, [send], 'dlv_other')).toBe(0);
  });

  it('reports as untrue a failure whose message was accepted, a sent message that no provider has, a wrong recipient, and an end without an outcome', () => {
    const failed = orderIs({ state: 'FAILED', reason: 'refused_content' });
    expect(kinds(failed.course, failed.evidence)).toEqual(['untrue', 'lost']);
    const { course, evidence, letter } = orderIs();
    expect(kinds({ ...course, mail: [] }, evidence)).toEqual(['untrue']);
    expect(kinds({ ...course, mail: [{ ...letter, to: ['else@example.org'] }] }, evidence)).toEqual(['untrue']);
    expect(kinds(course, { ...evidence, outcomes: [] })).toEqual(['untrue']);
  });

  it('reports a suppressed message as lost, unless its address was missing', () => {
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

  it('reports two messages of one event, even if neither was sent', () => {
    const { course, evidence, delivery } = watchedOrderIs();
    const twin = { ...delivery.intent, id: 'int_other' as typeof delivery.intent.id };
    expect(kinds(course, { ...evidence, intents: [twin, delivery.intent] })).toEqual(['twice']);
    expect(kinds(course, { ...evidence, intents: [delivery.intent, delivery.intent] })).toEqual([]);
  });

  it('reports a partner call after its answer was logged, or two answers, but not a repeated record', () => {
    const { course, evidence, record, call } = watchedOrderIs();
    const late = { ...call, callId: 'req_2', at: ANSWERED_AT + 1, endedAt: ANSWERED_AT + 2 };
    const asked = (calls: readonly BookedCall[], ...cuts: readonly Cut[]) =>
      kinds({ ...course, partner: { calls, cuts } }, evidence);
    expect(asked([call, late])).toEqual(['asked']);
    // A kill long before the answer, or long after it, is no excuse; one at which it was being written is, for one call.
    const killAt = (moment: number): Cut => ({ from: moment, until: moment });
    expect(asked([call, late], killAt(ANSWERED_AT - 2_001))).toEqual(['asked']);
    expect(asked([call, late], killAt(ANSWERED_AT + 2_001))).toEqual(['asked']);
    expect(asked([call, late], killAt(ANSWERED_AT + 100))).toEqual([]);
    expect(asked([call, late, { ...late, callId: 'req_3' }], killAt(ANSWERED_AT + 100))).toEqual(['asked']);
    const again = { ...record, at: record.at + 1 };
    expect(kinds(course, { ...evidence, lookups: [record, again] })).toEqual([]);
    const other = { ...again, lookup: { ...again.lookup, callId: 'req_2' } };
    expect(kinds(course, { ...evidence, lookups: [record, other] })).toEqual(['asked']);
  });

  it('allows a call that the product does not know where it was under way at a cut, and nowhere else', () => {
    const { course, evidence, record, call } = watchedOrderIs();
    const before = { ...call, callId: 'req_0', at: call.at - 20_100, endedAt: call.at - 20_000 };
    const calls = [before, call];
    /** Killed at that moment, on a machine that writes down an answer every 40 ms, after so long each. */
    const at = (moment: number, lag = 10, until = moment) => {
      const others = answersUntil(until, lag);
      const partner = { calls: [...calls, ...others.calls], cuts: [{ from: moment, until: moment }] };
      return kinds({ ...course, partner }, { ...evidence, lookups: [record, ...others.lookups] });
    };
    expect(at(before.at)).toEqual([]);
    // A fifth of a second is what it may take to write an answer down, where the run shows nothing slower.
    expect(at(before.endedAt + 200)).toEqual([]);
    expect(at(before.endedAt + 201)).toEqual(['asked']);
    expect(at(before.at - 201)).toEqual(['asked']);
    // What is usual is excused eight times, and never beyond two seconds.
    expect(at(before.endedAt + 800, 100)).toEqual([]);
    expect(at(before.endedAt + 801, 100)).toEqual(['asked']);
    expect(at(before.endedAt + 2_000, 3_000)).toEqual([]);
    expect(at(before.endedAt + 2_001, 3_000)).toEqual(['asked']);
    // Who wrote nothing for a second before the kill had no processor: that second is excused too.
    expect(at(before.endedAt + 1_200, 10, before.endedAt + 200)).toEqual([]);
    expect(at(before.endedAt + 1_200, 10, before.endedAt + 201)).toEqual(['asked']);
    // Two at once are one too many for one cut.
    const three = [{ ...before, callId: 'req_1' }, ...calls];
    const once = { calls: three, cuts: [{ from: before.at, until: before.at }] };
    expect(kinds({ ...course, partner: once }, evidence)).toEqual(['asked']);
    // A call that the product knows of was repeated for a reason.
    const known = [{ ...record, lookup: { ...record.lookup, calls: 2 } }];
    expect(kinds({ ...course, partner: { calls, cuts: [] } }, { ...evidence, lookups: known })).toEqual([]);
  });

  it('tolerates a delay at its own kill only: one slow answer does not excuse other kills', () => {
    const { evidence } = watchedOrderIs();
    const { calls, lookups } = answersUntil(60_000, 10, 60_000);
    const slow = calls.map((call, at) => (at === 200 ? { ...call, endedAt: call.endedAt - 900 } : call));
    const slowAt = lookups[200]?.at ?? 0;
    const atKills = { sends: [], kills: [] };
    const { ofCalls, ofMails } = tolerancesOf(
      { partner: { calls: slow, cuts: [] }, atKills },
      { ...evidence, lookups },
    );
    const at = (moment: number): number => ofCalls({ from: moment, until: moment });
    expect(at(slowAt)).toBe(1_820);
    expect(at(slowAt + 4_000)).toBe(1_820);
    expect(at(slowAt + 20_000)).toBe(200);
    expect(at(slowAt - 20)).toBeLessThan(250);
    // Mails have signs of life of their own, and the machine in common.
    expect(ofMails({ from: 10_000_000, until: 10_000_000 })).toBe(2_000);
    const begun = { id: 'att_1' as AttemptId, token: 't', account: 'email', to: null, endedAt: null, result: null };
    const deliveries = evidence.deliveries.map((one) => ({ ...one, attempts: [{ ...begun, startedAt: slowAt }] }));
    const both = tolerancesOf({ partner: { calls: slow, cuts: [] }, atKills }, { ...evidence, lookups, deliveries });
    expect(both.ofMails({ from: slowAt, until: slowAt })).toBe(1_820);
  });

  it('calls a run inconclusive if kills excuse most of it, but not if the machine is slow', () => {
    const { course, evidence } = watchedOrderIs();
    const { calls, lookups } = answersUntil(60_000, 10, 60_000);
    const killedEvery = (span: number) => {
      const cuts = Array.from({ length: 60_000 / span }, (_, at) => ({
        from: (at + 1) * span,
        until: (at + 1) * span,
      }));
      return coverageOf({ ...course, partner: { calls, cuts } }, { ...evidence, lookups });
    };
    const often = killedEvery(400);
    expect(showsTooLittle(often)).toMatch(/^shows nothing: 1\d\d\d of 1500 calls and 0 of 0 mails/);
    expect(showsTooLittle(killedEvery(5_000))).toBeNull();
    expect(killedEvery(5_000).callsExcused).toBeLessThan(150);
    expect(showsTooLittle({ ...often, slackMedian: 401 })).toBeNull();
    expect(showsTooLittle({ ...killedEvery(5_000), mails: 10, mailsExcused: 6 })).toMatch('6 of 10 mails');
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

  it('reports a state that contradicts receipts and opt-outs as untrue', () => {
    const { course, evidence, delivery } = orderIs();
    const { eventId } = delivery.intent;
    expect(kinds({ ...course, fates: [{ eventId, state: 'SENT' }] }, evidence)).toEqual([]);
    expect(kinds({ ...course, fates: [{ eventId, state: 'DELIVERED' }] }, evidence)).toEqual(['untrue']);
    expect(kinds({ ...course, fates: [{ eventId: 'evt_of_nobody', state: 'SENT' }] }, evidence)).toEqual(['untrue']);
  });

  it('reports a receipt that changed nothing, and an end that nobody reported', () => {
    const texted = (state: 'SENT' | 'DELIVERED') => {
      const { course, evidence, delivery } = orderIs({ state });
      const mail = course.mail.map((entry) => ({ ...entry, channel: 'sms' }));
      const about = new Set([delivery.slot.uniqueId]);
      return {
        of: (answered: boolean, said: boolean) =>
          kinds(
            { ...course, mail, reports: { answered: answered ? about : new Set(), said: said ? about : new Set() } },
            evidence,
          ),
      };
    };
    expect(texted('SENT').of(false, true)).toEqual([]);
    expect(texted('SENT').of(true, true)).toEqual(['lost']);
    expect(texted('DELIVERED').of(true, true)).toEqual([]);
    expect(texted('DELIVERED').of(false, false)).toEqual(['untrue']);
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
