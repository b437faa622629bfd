import { describe, expect, it } from 'vitest';
import { DeliveryStory, givenIntent, HOUR, MORNING } from '@carillon/testing/given';
import { JUDGED_KEPT, type Delivery } from '../../src/deliveries/index.ts';

const story = (...facts: Parameters<typeof givenIntent>): DeliveryStory => new DeliveryStory(givenIntent(...facts));
const another = (name: string) => givenIntent(name);

describe('storing a new message as a delivery', () => {
  it('makes a delivery that is WAITING and due at once, with the whole message request and without an outcome', () => {
    const intent = givenIntent('first');
    const { delivery } = new DeliveryStory(intent);
    expect(delivery).toMatchObject({
      state: 'WAITING',
      reason: 'new',
      nextAt: MORNING,
      version: 1,
      clean: true,
      intent,
    });
    expect(delivery).toMatchObject({
      notAfter: intent.notAfter,
      judged: [intent.id],
      unpublished: [],
      attemptsUsed: 0,
    });
  });

  it('suppresses a recipient without an address on the channel, with an outcome that says so', () => {
    const { delivery } = story('first', { to: null });
    expect(delivery).toMatchObject({ state: 'SUPPRESSED', reason: 'no_address', nextAt: null });
    expect(delivery.unpublished).toMatchObject([{ state: 'SUPPRESSED', reason: 'no_address', intentId: 'int_first' }]);
  });
});

describe('a message request (intent) that arrives again', () => {
  it('is ignored in every state of its delivery', () => {
    for (const told of [
      story('first'),
      story('first').begins('t1'),
      story('first').begins('t1').answers('t1', 'accepted'),
      story('first').begins('t1').answers('t1', 'refused_content'),
      story('first').ends('EXPIRED', 'not_after_passed'),
    ]) {
      expect(told.judges(givenIntent('first'))).toEqual({ kind: 'known' });
    }
  });

  it('is ignored after another request replaced it', () => {
    const told = story('first').ends('EXPIRED', 'not_after_passed');
    told.judges(another('second'));
    expect(told.judges(givenIntent('first'))).toEqual({ kind: 'known' });
  });

  it('is ignored while its delivery exists, however many other requests arrived', () => {
    const told = story('first');
    for (let index = 0; index < JUDGED_KEPT + 5; index += 1) told.judges(another(`other-${index}`));
    told.ends('FAILED', 'cannot_render');
    expect(told.delivery.judged).toHaveLength(JUDGED_KEPT);
    expect(told.judges(givenIntent('first'))).toEqual({ kind: 'known' });
  });

  it('is recognized among the last 32 requests', () => {
    const told = story('first');
    for (let index = 0; index < 40; index += 1) told.judges(another(`other-${index}`));
    expect(told.delivery.judged).toEqual(Array.from({ length: 32 }, (_, index) => `int_other-${index + 8}`));
    expect(told.judges(another('other-8'))).toEqual({ kind: 'known' });
    expect(told.judges(another('other-7')).kind).toBe('duplicate');
  });
});

describe('another message request with the same unique_id', () => {
  const unsent: Record<string, () => DeliveryStory> = {
    'SUPPRESSED for want of an address': () => story('first', { to: null }),
    'SUPPRESSED by the list': () => story('first').ends('SUPPRESSED', 'suppressed_address'),
    EXPIRED: () => story('first').ends('EXPIRED', 'not_after_passed'),
    'FAILED to render': () => story('first').ends('FAILED', 'cannot_render'),
    'FAILED by a refusal': () => story('first').begins('t1').answers('t1', 'refused_recipient'),
  };
  for (const [how, told] of Object.entries(unsent)) {
    it(`replaces the delivery if that ended ${how}`, () => {
      const before = told().passes(HOUR);
      const history = before.delivery.history;
      const intent = givenIntent('second', { notAfter: MORNING + 9 * HOUR });
      expect(before.judges(intent).kind).toBe('taken_over');
      const { delivery } = before;
      expect(delivery).toMatchObject({
        state: 'WAITING',
        intent,
        notAfter: intent.notAfter,
        attemptsUsed: 0,
        tried: [],
      });
      expect(delivery).toMatchObject({ nextAt: MORNING + HOUR, clean: true, duplicates: 0, token: null });
      expect(delivery.intentPosition).toBe('carillon.intents/0@8');
      expect(delivery.history.slice(0, history.length)).toEqual(history);
      expect(delivery.history.at(-1)).toMatchObject({ intentId: 'int_second', state: 'WAITING' });
    });
  }

  const held: Record<string, () => DeliveryStory> = {
    WAITING: () => story('first'),
    SENDING: () => story('first').begins('t1'),
    SENT: () => story('first').begins('t1').answers('t1', 'accepted'),
    IN_DOUBT: () => story('first').begins('t1').answers('t1', 'ambiguous'),
    CANCELLED: () => story('first').isCancelledByOperator(),
    'dismissed as failed': () => story('first').begins('t1').losesItsSender().isDismissedByOperator('failed'),
    'FAILED by in_doubt: drop': () => story('first').begins('t1').losesItsSender({ inDoubt: 'drop' }),
    'FAILED after a doubt that a late answer ended': () =>
      story('first').begins('t1').losesItsSender().answers('t1', 'refused_content'),
    'EXPIRED after a doubt': () =>
      story('first').begins('t1').losesItsSender({ inDoubt: 'resend' }).ends('EXPIRED', 'not_after_passed'),
    DELIVERED: () => withState('DELIVERED'),
    BOUNCED: () => withState('BOUNCED'),
    COMPLAINED: () => withState('COMPLAINED'),
  };
  const withState = (state: Delivery['state']): DeliveryStory => {
    const told = story('first').begins('t1').answers('t1', 'accepted');
    told.delivery = { ...told.delivery, state };
    return told;
  };
  for (const [how, told] of Object.entries(held)) {
    it(`is counted as a duplicate with its own outcome, and leaves the delivery unchanged, if that is ${how}`, () => {
      const before = told();
      const holder = before.delivery;
      expect(before.judges(another('second')).kind).toBe('duplicate');
      const { version, judged, duplicates, unpublished, updatedAt, ...rest } = before.delivery;
      expect(holder).toMatchObject(rest);
      expect({ version, duplicates, updatedAt }).toEqual({
        version: holder.version + 1,
        duplicates: 1,
        updatedAt: before.now,
      });
      expect(judged.at(-1)).toBe('int_second');
      expect(unpublished.slice(0, -1)).toEqual(holder.unpublished);
      expect(unpublished.at(-1)).toMatchObject({ state: 'SUPPRESSED', reason: 'duplicate', intentId: 'int_second' });
    });
  }

  it('has an outcome id derived from the request alone, so that a repeated decision gives one outcome', () => {
    const early = story('first').judges(another('second'));
    const late = story('first').begins('t1').answers('t1', 'accepted').judges(another('second'));
    const idOf = (judged: typeof early) =>
      judged.kind === 'duplicate' ? judged.next.unpublished.at(-1)?.id : undefined;
    expect(idOf(early)).toMatch(/^out_/);
    expect(idOf(late)).toBe(idOf(early));
    expect(idOf(story('first').judges(another('third')))).not.toBe(idOf(early));
  });

  it('states in its outcome that one event gave two addresses the same unique_id', () => {
    const told = story('first');
    told.judges(givenIntent('second', { triggerId: told.delivery.intent.triggerId, to: 'bob@example.com' }));
    expect(told.delivery.unpublished.at(-1)?.detail).toContain('the same event gave two addresses');
  });
});
