import type { DeliveryId, IntentId, TriggerId } from '@carillon/kernel';
import { deliveryOf } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { chainEnd, findDeadLetters, findGaps } from './audit.ts';
import type { Evidence } from './evidence.ts';
import { memberIs, orderIs, watchedOrderIs } from './forged-evidence.ts';

const gapsOf = (evidence: Evidence): readonly string[] => findGaps(evidence).map(({ what }) => what);

describe('The audit', () => {
  it('closes over an order, over one that asks, and over a change of a cohort', () => {
    expect(gapsOf(orderIs().evidence)).toEqual([]);
    expect(gapsOf(watchedOrderIs().evidence)).toEqual([]);
    expect(gapsOf(memberIs().evidence)).toEqual([]);
  });

  it('joins adjacent and overlapping evaluation ranges up to the first gap', () => {
    const range = { from: 0, to: 3 };
    expect(chainEnd([range, { from: 3, to: 5 }], 0, 5)).toBe(5);
    expect(chainEnd([range, { from: 0, to: 2 }, { from: 2, to: 5 }], 0, 5)).toBe(5);
    expect(chainEnd([range, { from: 4, to: 5 }], 0, 5)).toBe(3);
    expect(chainEnd([], 0, 0)).toBe(0);
    const { evidence } = orderIs();
    const further = [{ partition: 0, start: 0, next: 5 }];
    expect(gapsOf({ ...evidence, judged: further })).toEqual(['evaluations of partition 0 end at 2 of 5']);
  });

  it('reports dead letters, except for a refusal by the partner, which requires one', () => {
    const { evidence, delivery } = orderIs();
    const { eventId } = delivery.intent;
    const letter = { what: 'ask partner_refused', eventId };
    const gaps = (deadLetters: Evidence['deadLetters'], ...parked: readonly string[]) =>
      findDeadLetters({ ...evidence, deadLetters }, new Set(parked)).map(({ what }) => what);
    expect(gaps([letter])).toEqual([`a dead letter: ask partner_refused ${eventId}`]);
    expect(gaps([{ what: 'evaluate not_avro', eventId: null }], eventId)).toEqual([
      'a dead letter: evaluate not_avro ',
      `${eventId} was refused, and no dead letter says so`,
    ]);
    expect(gaps([letter, letter], eventId)).toEqual([]);
  });

  it('wants an evaluation over each event', () => {
    const { evidence } = orderIs();
    expect(gapsOf({ ...evidence, evaluations: [] })).toEqual(['evaluations of partition 0 end at 0 of 2']);
  });

  it('counts events, intents and triggers in the range of an evaluation, what was appended again once', () => {
    const order = orderIs().evidence;
    const twice = { ...order, intents: [...order.intents, ...order.intents] };
    expect(gapsOf(twice)).toEqual([]);
    const more = (counts: object) => order.evaluations.map((one) => ({ ...one, ...counts }));
    expect(gapsOf({ ...order, evaluations: more({ events: 2 }) })).toEqual([
      'the evaluation of 0@0-2 counts 2 events, there are 1',
    ]);
    expect(gapsOf({ ...order, evaluations: more({ intents: 2 }) })).toEqual([
      'the evaluation of 0@0-2 counts 2 intents, there are 1',
    ]);
    const { evidence, trigger } = watchedOrderIs();
    const uncounted = { ...trigger, id: 'trg_more' as TriggerId };
    expect(gapsOf({ ...evidence, triggers: [trigger, uncounted] })).toEqual([
      'the evaluation of 0@0-2 counts 1 triggers, there are 2',
      'trigger trg_more has no answer',
    ]);
    // Nor is a batch that was done twice allowed to come to something else.
    const [first] = order.evaluations;
    if (!first) throw new Error('an order is evaluated');
    expect(gapsOf({ ...order, evaluations: [first, { ...first, intents: 0 }] })).toEqual([
      'the evaluation of 0@0-2 counts 0 intents, there are 1',
    ]);
  });

  it('requires an answer for each trigger, and a trigger and an answer for each result', () => {
    const { evidence, trigger } = watchedOrderIs();
    const intent = evidence.intents[0]?.id;
    expect(gapsOf({ ...evidence, lookups: [] })).toEqual([
      `trigger ${trigger.id} has no answer`,
      `intent ${intent} comes of an answer that is not there`,
    ]);
    expect(gapsOf({ ...evidence, triggers: [] })).toEqual([
      'the evaluation of 0@0-2 counts 1 triggers, there are 0',
      'the evaluation of 0@0-2 counts 0 intents, there are 1',
      `an answer to trigger ${trigger.id}, which is not there`,
    ]);
  });

  it('requires each intent in the only delivery of its slot: as holder, as evaluated earlier, or as a duplicate', () => {
    const { evidence, delivery } = orderIs();
    const { id } = delivery.intent;
    const other = deliveryOf({ id: 'dlv_other' as DeliveryId, slot: delivery.slot, intent: delivery.intent });
    expect(gapsOf({ ...evidence, deliveries: [], outcomes: [] })).toEqual([`intent ${id} is in no delivery`]);
    expect(gapsOf({ ...evidence, deliveries: [delivery, other] })).toContain('slot email ntf order-1 has 2 deliveries');
    const crowdedOut = { ...delivery, intent: { ...delivery.intent, id: 'int_later' as IntentId }, judged: [] };
    const later = { ...delivery.intent, id: crowdedOut.intent.id };
    const both = {
      ...evidence,
      intents: [delivery.intent, later],
      evaluations: evidence.evaluations.map((one) => ({ ...one, intents: 2 })),
      deliveries: [crowdedOut],
    };
    expect(gapsOf(both)).toEqual([]);
    expect(gapsOf({ ...both, outcomes: [] })).toEqual([`intent ${id} is in no delivery`]);
  });

  it('finds what is there without a cause', () => {
    const { evidence, delivery } = orderIs();
    const { id, eventPosition } = delivery.intent;
    const moved = new Map([[eventPosition, 'evt_else']]);
    expect(gapsOf({ ...evidence, events: moved })).toEqual([`intent ${id} has no event`]);
    const stray = deliveryOf({ slot: { uniqueId: 'stray' } });
    expect(gapsOf({ ...evidence, deliveries: [delivery, stray] })).toEqual([
      `delivery ${stray.id} holds intent ${stray.intent.id}, which is not there`,
    ]);
    const [outcome] = evidence.outcomes;
    if (!outcome) throw new Error('an order has an outcome');
    const ofNothing = { ...outcome, id: 'out_stray', deliveryId: 'dlv_gone' as DeliveryId };
    expect(gapsOf({ ...evidence, outcomes: [outcome, ofNothing] })).toEqual([
      'outcome out_stray is of nothing that is there',
    ]);
  });
});
