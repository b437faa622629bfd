import { describe, expect, it } from 'vitest';
import { DeliveryStory, givenIntent, HOUR, LEASE_SPAN, MINUTE, MORNING } from '@carillon/testing/given';
import { ACCOUNT_PAUSE, beginAttempt, renewLease, STOPPED, type ProviderVerdict } from '../../src/deliveries/index.ts';
import type { AttemptId } from '@carillon/kernel';
import { at } from '@carillon/testing/given';

const story = (): DeliveryStory => new DeliveryStory();
const start = { attemptId: 'att_x' as AttemptId, token: 'x', account: 'main', leaseUntil: MORNING + LEASE_SPAN };

describe('setting a delivery to SENDING', () => {
  it('gives it a token and a lease, and records the attempt before the provider call, without an outcome', () => {
    const { delivery } = story().begins('t1');
    expect(delivery).toMatchObject({ state: 'SENDING', token: 't1', leaseUntil: MORNING + LEASE_SPAN, nextAt: null });
    expect(delivery).toMatchObject({ attemptsUsed: 1, tried: ['main'], unpublished: [], version: 2 });
    expect(delivery.attempts).toEqual([
      {
        id: 'att_t1',
        token: 't1',
        account: 'main',
        to: 'ada@example.com',
        startedAt: MORNING,
        endedAt: null,
        result: null,
      },
    ]);
  });

  it('is refused in every state but WAITING', () => {
    for (const told of [
      story().begins('t1'),
      story().begins('t1').answers('t1', 'accepted'),
      story().begins('t1').answers('t1', 'ambiguous'),
      story().begins('t1').answers('t1', 'refused_content'),
      story().isCancelledByOperator(),
      story().ends('EXPIRED', 'not_after_passed'),
      story().ends('SUPPRESSED', 'rule_withdrawn'),
    ]) {
      expect(beginAttempt(told.delivery, start, at(MORNING))).toBeUndefined();
    }
  });

  it('is refused one millisecond after not_after, whatever was checked before', () => {
    const { delivery } = story();
    expect(beginAttempt(delivery, start, at(delivery.notAfter))).toBeDefined();
    expect(beginAttempt(delivery, start, at(delivery.notAfter + 1))).toBeUndefined();
  });

  it('gives a lease that only the same token can renew', () => {
    const told = story().begins('t1').passes(10_000).renews('t1');
    expect(told.delivery).toMatchObject({ leaseUntil: MORNING + 10_000 + LEASE_SPAN, version: 3, state: 'SENDING' });
    expect(renewLease(told.delivery, 't2', MORNING + HOUR, MORNING)).toBeUndefined();
    expect(renewLease(told.losesItsSender().delivery, 't1', MORNING + HOUR, MORNING)).toBeUndefined();
    expect(renewLease(story().delivery, 't1', MORNING + HOUR, MORNING)).toBeUndefined();
  });
});

describe('a definite answer of the provider', () => {
  it('makes the delivery SENT if the provider accepted it', () => {
    const { delivery, path } = story().begins('t1').passes(900).answers('t1', 'accepted', { providerId: 'q1' });
    expect(path).toEqual(['WAITING new', 'SENDING new', 'SENT accepted']);
    expect(delivery).toMatchObject({ token: null, leaseUntil: null, nextAt: null, clean: true });
    expect(delivery.attempts).toMatchObject([
      { endedAt: MORNING + 900, result: { verdict: 'accepted', providerId: 'q1' } },
    ]);
    expect(delivery.unpublished).toMatchObject([{ state: 'SENT', attempt: 1, at: MORNING + 900 }]);
  });

  for (const verdict of ['refused_recipient', 'refused_content'] as const) {
    it(`makes the delivery FAILED at the first attempt if it is ${verdict}`, () => {
      const { delivery } = story().begins('t1').answers('t1', verdict, { code: '550 5.1.1' });
      expect(delivery).toMatchObject({ state: 'FAILED', reason: verdict, nextAt: null, token: null, clean: true });
      expect(delivery.detail).toContain('550 5.1.1');
    });
  }

  it('makes the delivery wait a random time after `transient`, up to a bound that doubles until the maximum', () => {
    for (const [chance, expected] of [
      [0, [30_000, 60_000]],
      [0.5, [15_000, 30_000]],
      [0.999999, [1, 1]],
    ] as const) {
      const told = story();
      for (const [index, span] of expected.entries()) {
        told.begins(`t${index}`).answers(`t${index}`, 'transient', { chance });
        expect(told.delivery.state).toBe('WAITING');
        const pause = (told.delivery.nextAt ?? 0) - told.now;
        expect(Math.abs(pause - span)).toBeLessThanOrEqual(1);
        expect(pause).toBeGreaterThanOrEqual(1);
        told.passes(pause);
      }
    }
  });

  it('makes the delivery FAILED when its attempts are used up, with the last answer in its detail', () => {
    const told = story();
    for (const token of ['t1', 't2', 't3']) told.begins(token).answers(token, 'transient', { detail: 'try later' });
    expect(told.delivery).toMatchObject({ state: 'FAILED', reason: 'attempts_used_up', attemptsUsed: 3, nextAt: null });
    expect(told.delivery.detail).toBe('3 attempts used; the last: try later');
  });

  it('makes the delivery wait until the time that a throttling provider names, but at least its own delay', () => {
    const retryAt = MORNING + 2 * HOUR;
    expect(story().begins('t1').answers('t1', 'throttled', { retryAt }).delivery.nextAt).toBe(retryAt);
    expect(
      story()
        .begins('t1')
        .answers('t1', 'throttled', { retryAt: MORNING + 5 }).delivery.nextAt,
    ).toBe(MORNING + 30_000);
  });

  it('never makes the delivery wait beyond not_after, so that the delivery is found then and expires', () => {
    const told = new DeliveryStory(givenIntent('first', { notAfter: MORNING + MINUTE }));
    told.begins('t1').answers('t1', 'throttled', { retryAt: MORNING + 9 * HOUR });
    expect(told.delivery.nextAt).toBe(MORNING + MINUTE + 1);
  });

  it('that refuses the account is not counted as an attempt, and the delivery is retried once a minute', () => {
    const told = story();
    for (const token of ['t1', 't2', 't3', 't4', 't5']) {
      told.begins(token).answers(token, 'refused_account');
      expect(told.delivery).toMatchObject({ state: 'WAITING', reason: 'refused_account', attemptsUsed: 0, tried: [] });
      expect(told.delivery.nextAt).toBe(told.now + ACCOUNT_PAUSE);
    }
  });

  it('is not expected for an attempt stopped before its call: the delivery is due at once, the account unaffected', () => {
    const told = story().begins('t1', 'main').answers('t1', 'transient', { code: STOPPED });
    expect(told.delivery).toMatchObject({ state: 'WAITING', reason: 'stopped_before_sending', attemptsUsed: 0 });
    expect(told.delivery).toMatchObject({ nextAt: MORNING, tried: [], clean: true });
  });
});

describe('fail-over of a delivery to another provider account', () => {
  for (const verdict of ['throttled', 'transient', 'refused_account'] as const) {
    it(`is due at once after ${verdict}, and remembers the account that was tried`, () => {
      const told = story().begins('t1', 'main').answers('t1', verdict, { anotherAccount: true });
      expect(told.delivery).toMatchObject({ state: 'WAITING', reason: verdict, nextAt: MORNING, tried: ['main'] });
      told.begins('t2', 'backup').answers('t2', verdict);
      expect(told.delivery).toMatchObject({ tried: [] });
      expect(told.delivery.nextAt).toBeGreaterThan(MORNING);
    });
  }

  for (const verdict of ['ambiguous', 'refused_recipient', 'refused_content'] satisfies ProviderVerdict[]) {
    it(`does not happen after ${verdict}`, () => {
      const { delivery } = story().begins('t1').answers('t1', verdict, { anotherAccount: true });
      expect(delivery.nextAt).toBeNull();
    });
  }
});
