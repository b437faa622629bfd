import { describe, expect, it } from 'vitest';
import { at, DeliveryStory, givenIntent, HOUR, MINUTE, MORNING, PLAIN_SETTINGS } from '@carillon/testing/given';
import { leaseRanOut, type ProviderVerdict } from '../../src/deliveries/index.ts';

const story = (): DeliveryStory => new DeliveryStory();
const RESEND = { inDoubt: 'resend' } as const;
const DROP = { inDoubt: 'drop' } as const;

describe('a delivery in doubt (nobody knows if the provider accepted the message)', () => {
  it('follows an ambiguous answer, is not resent automatically, and can never be replaced by another message', () => {
    const { delivery, path } = story().begins('t1').answers('t1', 'ambiguous');
    expect(path.at(-1)).toBe('IN_DOUBT answer_unknown');
    expect(delivery).toMatchObject({ clean: false, nextAt: null, leaseUntil: null, token: 't1' });
    expect(delivery.unpublished).toMatchObject([{ state: 'IN_DOUBT' }]);
  });

  it('follows an expired lease of the worker', () => {
    const { delivery, path } = story().begins('t1').passes(MINUTE).losesItsSender();
    expect(path.at(-1)).toBe('IN_DOUBT lease_ran_out');
    expect(delivery).toMatchObject({ clean: false, nextAt: null, leaseUntil: null, token: 't1' });
  });

  it('can follow only the state SENDING', () => {
    for (const told of [story(), story().begins('t1').answers('t1', 'accepted'), story().isCancelledByOperator()]) {
      expect(leaseRanOut(told.delivery, PLAIN_SETTINGS, at(MORNING))).toBeUndefined();
    }
  });

  it('is resent under in_doubt: resend, with that reason, and stays marked as possibly sent twice', () => {
    for (const told of [
      story().begins('t1').answers('t1', 'ambiguous', { settings: RESEND }),
      story().begins('t1').losesItsSender(RESEND),
    ]) {
      expect(told.delivery).toMatchObject({ state: 'WAITING', reason: 'in_doubt_resend', clean: false, token: null });
      expect(told.delivery.nextAt).toBe(MORNING + PLAIN_SETTINGS.retry.first);
    }
  });

  it('stays in doubt under in_doubt: resend once its attempts are used up', () => {
    const told = story();
    for (const token of ['t1', 't2', 't3']) told.begins(token).answers(token, 'ambiguous', { settings: RESEND });
    expect(told.delivery).toMatchObject({ state: 'IN_DOUBT', nextAt: null });
  });

  it('becomes FAILED under in_doubt: drop, and can never be replaced by another message', () => {
    const told = story().begins('t1').answers('t1', 'ambiguous', { settings: DROP });
    expect(told.delivery).toMatchObject({ state: 'FAILED', reason: 'in_doubt_drop', clean: false, nextAt: null });
  });
});

describe('a late answer of the provider to the attempt in doubt', () => {
  const late: Record<string, [ProviderVerdict, string]> = {
    accepted: ['accepted', 'SENT accepted'],
    'refused for good': ['refused_content', 'FAILED refused_content'],
    'not accepted, may be tried again': ['transient', 'WAITING transient'],
  };
  for (const [what, [verdict, end]] of Object.entries(late)) {
    it(`ends the doubt: ${what}`, () => {
      const { delivery, path } = story().begins('t1').passes(MINUTE).losesItsSender().answers('t1', verdict);
      expect(path.at(-1)).toBe(end);
      expect(delivery.clean).toBe(false);
    });
  }

  it('changes nothing if the answer is ambiguous', () => {
    const told = story().begins('t1').losesItsSender();
    const { history, unpublished } = told.delivery;
    told.answers('t1', 'ambiguous');
    expect(told.delivery).toMatchObject({ state: 'IN_DOUBT', history, unpublished });
  });
});

describe('evidence that an earlier attempt was accepted', () => {
  const RESENT = 'a late answer proves';
  it('cancels a resend that is waiting', () => {
    const told = story().begins('t1').losesItsSender(RESEND).answers('t1', 'accepted');
    expect(told.delivery).toMatchObject({ state: 'SENT', nextAt: null, token: null, clean: false });
    expect(told.delivery.detail).toContain(RESENT);
  });

  it('cancels a resend by an operator that is waiting', () => {
    const told = story().begins('t1').losesItsSender().isResentByOperator().answers('t1', 'accepted');
    expect(told.delivery).toMatchObject({ state: 'SENT', nextAt: null });
  });

  it('changes a FAILED or EXPIRED delivery to SENT', () => {
    expect(story().begins('t1').losesItsSender(DROP).answers('t1', 'accepted').delivery.state).toBe('SENT');
    const expired = story().begins('t1').losesItsSender(RESEND).ends('EXPIRED', 'not_after_passed');
    expect(expired.answers('t1', 'accepted').delivery.state).toBe('SENT');
    const dismissed = story().begins('t1').losesItsSender().isDismissedByOperator('failed');
    expect(dismissed.answers('t1', 'accepted').delivery.state).toBe('SENT');
  });

  it('ends a second doubt about the same delivery', () => {
    const told = story().begins('t1').losesItsSender(RESEND).begins('t2').losesItsSender().answers('t1', 'accepted');
    expect(told.delivery).toMatchObject({ state: 'SENT', token: null });
  });

  for (const verdict of ['transient', 'throttled', 'refused_account', 'ambiguous', 'refused_content'] as const) {
    it(`during a second call prevents a third call after ${verdict}`, () => {
      const told = story().begins('t1').losesItsSender(RESEND).passes(MINUTE).begins('t2').answers('t1', 'accepted');
      expect(told.delivery).toMatchObject({ state: 'SENDING', token: 't2' });
      told.answers('t2', verdict, { settings: RESEND, anotherAccount: true });
      expect(told.delivery).toMatchObject({ state: 'SENT', reason: 'accepted', nextAt: null, token: null });
    });
  }

  it('during a second call prevents a third call by the sweeper', () => {
    const told = story().begins('t1').losesItsSender(RESEND).passes(MINUTE).begins('t2').answers('t1', 'accepted');
    expect(told.losesItsSender(RESEND).delivery).toMatchObject({ state: 'SENT', nextAt: null, token: null });
  });

  it('does not change a sent or a cancelled delivery', () => {
    const sent = story().begins('t1').losesItsSender(RESEND).begins('t2').answers('t2', 'accepted');
    expect(sent.answers('t1', 'accepted').delivery).toMatchObject({ state: 'SENT', history: { length: 5 } });
    const cancelled = story().begins('t1').losesItsSender(RESEND).isCancelledByOperator().answers('t1', 'accepted');
    expect(cancelled.delivery.state).toBe('CANCELLED');
    expect(cancelled.delivery.attempts[0]?.result?.verdict).toBe('accepted');
  });

  it('is not a late refusal: a refusal stops no resend', () => {
    const told = story().begins('t1').losesItsSender(RESEND).answers('t1', 'refused_content');
    expect(told.delivery.state).toBe('WAITING');
  });
});

describe('an operator’s decision about a delivery', () => {
  it('may resend a FAILED, EXPIRED, CANCELLED or IN_DOUBT delivery, with a new not_after and all attempts, and is recorded', () => {
    for (const told of [
      story().begins('t1').answers('t1', 'refused_content'),
      story().ends('EXPIRED', 'not_after_passed'),
      story().isCancelledByOperator(),
      story().begins('t1').answers('t1', 'ambiguous'),
    ]) {
      const { clean } = told.delivery;
      told.passes(48 * HOUR).isResentByOperator(HOUR);
      expect(told.delivery).toMatchObject({
        state: 'WAITING',
        reason: 'operator_resend',
        attemptsUsed: 0,
        tried: [],
        clean,
      });
      expect(told.delivery).toMatchObject({
        notAfter: told.now + HOUR,
        nextAt: told.now,
        token: null,
        detail: 'by ann',
      });
      expect(told.delivery.unpublished.at(-1)).toMatchObject({ reason: 'operator_resend' });
    }
  });

  it('cannot resend a delivery that is WAITING, SENDING, SENT, SUPPRESSED, or without an address', () => {
    for (const told of [
      story(),
      story().begins('t1'),
      story().begins('t1').answers('t1', 'accepted'),
      story().ends('SUPPRESSED', 'rule_withdrawn'),
      new DeliveryStory(givenIntent('first', { to: null })),
    ]) {
      expect(() => told.isResentByOperator()).toThrow('refused');
    }
  });

  it('can cancel only a WAITING delivery, and mark only an IN_DOUBT one as failed', () => {
    expect(story().isCancelledByOperator().delivery).toMatchObject({ state: 'CANCELLED', nextAt: null });
    for (const told of [story().begins('t1'), story().begins('t1').answers('t1', 'accepted')]) {
      expect(() => told.isCancelledByOperator()).toThrow('only WAITING');
      expect(() => told.isDismissedByOperator('sent')).toThrow('only IN_DOUBT');
    }
    const doubt = () => story().begins('t1').answers('t1', 'ambiguous');
    expect(doubt().isDismissedByOperator('sent').delivery).toMatchObject({ state: 'SENT', clean: false });
    expect(doubt().isDismissedByOperator('failed').delivery).toMatchObject({ state: 'FAILED', clean: false });
  });
});

describe('a delivery that waits for a free provider account', () => {
  it('uses no attempt, does not wait beyond not_after, and reports the wait once', () => {
    const told = story().isPostponed(MORNING + MINUTE);
    expect(told.delivery).toMatchObject({ state: 'WAITING', reason: 'account_unavailable', attemptsUsed: 0 });
    const { history, unpublished, version } = told.delivery;
    told.passes(MINUTE).isPostponed(MORNING + 900 * HOUR);
    expect(told.delivery).toMatchObject({
      nextAt: MORNING + 24 * HOUR + 1,
      history,
      unpublished,
      version: version + 1,
    });
  });
});
