import {
  beginAttempt,
  deliverySettings,
  decideCustody,
  openDelivery,
  providerResult,
  settleAttempt,
  type Delivery,
  type Intent,
  type Moment,
} from '@carillon/domain/deliveries';
import { givenIds, givenIntent } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { deliverySteps } from '../../src/explain/steps.ts';

const at = (now: number): Moment => ({ now, derive: givenIds.derive });
const first: Intent = { ...givenIntent('a'), sendAt: 0 };
const second: Intent = { ...givenIntent('b'), slot: first.slot, sendAt: 0 };

/** A call over the mail server that ends in this. */
function called(before: Delivery, from: number, verdict: 'accepted' | 'refused_recipient'): Delivery {
  const token = `t${from}`;
  const begun = beginAttempt(
    before,
    { attemptId: `att_${from}` as never, token, account: 'shop/mail', leaseUntil: from + 30_000 },
    at(from),
  );
  if (!begun) throw new Error('it was due');
  const result = providerResult(verdict, verdict === 'accepted' ? '250' : '550', 'said so');
  const settings = deliverySettings({ channels: {}, rules: {} });
  return settleAttempt(begun, { token, result, settings, anotherAccount: false, chance: 0 }, at(from + 5));
}

/** The slot of `first`, refused at 105, taken over at 200 by `second`, which was accepted at 215. */
function takenOver(): Delivery {
  const refused = called(
    openDelivery(first, 'carillon.intents/0@0', 'dlv_1' as never, at(50)),
    100,
    'refused_recipient',
  );
  const judged = decideCustody(refused, second, 'carillon.intents/0@1', at(200));
  if (judged.kind !== 'taken_over') throw new Error(judged.kind);
  return called(judged.next, 210, 'accepted');
}
const linesOf = (delivery: Delivery, intent?: Intent): readonly string[] =>
  deliverySteps(delivery, intent?.id).map((one) => `${one.at} ${one.step} ${one.state ?? one.reason}: ${one.text}`);

describe('a slot that was taken over', () => {
  it('keeps the timeline of the first event: its call, its end, and when it was taken over', () => {
    expect(linesOf(takenOver(), first)).toEqual([
      '50 delivery WAITING: taken into custody',
      '100 delivery SENDING: over shop/mail',
      '105 attempt refused_recipient: call over shop/mail: refused_recipient 550 said so (5 ms)',
      '105 delivery FAILED: 550 said so',
      `200 delivery taken_over: event ${second.eventId} took the slot over`,
    ]);
  });
  it('has in each step the person who holds the slot, and never the person who lost it', () => {
    const people = deliverySteps(takenOver()).map(({ at: time, person }) => `${time} ${person}`);
    expect(second.person).not.toBe('');
    expect(people.filter((line) => line.endsWith(second.person)).map((line) => line.split(' ')[0])).toEqual(
      deliverySteps(takenOver(), second.id).map(({ at: time }) => String(time)),
    );
    expect(people).toContain('105 null');
  });
  it('says in the timeline of the second event from which it took the slot, with its own call only', () => {
    const lines = linesOf(takenOver(), second);
    expect(lines[0]).toBe(
      `200 delivery WAITING: takes the slot over from event ${first.eventId}, which ended FAILED (refused_recipient)`,
    );
    expect(lines.filter((line) => line.includes('attempt'))).toEqual([
      '215 attempt accepted: call over shop/mail: accepted 250 said so (5 ms)',
    ]);
  });
  it('has both events in order of time in the timeline of the delivery', () => {
    const times = deliverySteps(takenOver()).map((one) => one.at ?? 0);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(linesOf(takenOver()).filter((line) => line.includes(' attempt '))).toHaveLength(2);
  });
});
