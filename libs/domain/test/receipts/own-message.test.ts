import type { Delivery } from '../../src/deliveries/index.ts';
import { ownMessage, type FoundMessage } from '../../src/receipts/index.ts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import { DeliveryStory, givenIntent, MINUTE } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';

const inDoubt = (name = 'mine'): Delivery =>
  new DeliveryStory(givenIntent(name)).begins('t1').losesItsSender().delivery;
const delivery = inDoubt();
const began = delivery.attempts.at(-1)?.startedAt ?? 0;
const message = (providerId: string, after = 1000): FoundMessage => ({
  source: 'twilio',
  providerId,
  createdAt: began + after,
});
/** Another delivery to the same address, whose attempt ended so. */
const other = (verdict: 'accepted' | 'ambiguous' | 'transient' | null, providerId: string | null = null): Delivery => {
  const found = inDoubt('other');
  const [attempt] = found.attempts;
  if (!attempt) throw new Error('no attempt');
  const result =
    verdict === null
      ? null
      : { verdict, providerId, code: '', detail: '', retryAt: null, suppress: null, alert: false };
  return { ...found, id: 'dlv_OTHER' as DeliveryId, attempts: [{ ...attempt, id: 'att_OTHER' as AttemptId, result }] };
};

describe('the provider’s message that belongs to an attempt in doubt', () => {
  it('is the only message that was created around the time of its call', () => {
    expect(ownMessage(delivery, [delivery], [message('SM1'), message('SM2', 6 * MINUTE)])?.providerId).toBe('SM1');
  });

  it('is never a message that another attempt owns', () => {
    const others = [other('accepted', 'SM1')];
    expect(ownMessage(delivery, others, [message('SM1')])).toBeNull();
    expect(ownMessage(delivery, others, [message('SM1'), message('SM2')])?.providerId).toBe('SM2');
  });

  it.each([
    ['two could be it', [], [message('SM1'), message('SM2')]],
    ['there is none', [], []],
    ['one is of an unknown time', [], [{ ...message('SM1'), createdAt: null }]],
    ['the only one is of another time', [], [message('SM1', -6 * MINUTE)]],
    ['another attempt is in doubt as well', [other('ambiguous')], [message('SM1')]],
    ['another attempt is under way', [other(null)], [message('SM1')]],
  ])('is not known if %s', (_, others, found) => {
    expect(ownMessage(delivery, others, found)).toBeNull();
  });

  it('is found although another attempt was definitely refused', () => {
    expect(ownMessage(delivery, [other('transient')], [message('SM1')])?.providerId).toBe('SM1');
  });
});
