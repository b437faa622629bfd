import { describe, expect, it } from 'vitest';
import { at, DeliveryStory, givenIntent, HOUR, MINUTE, MORNING, PLAIN_SETTINGS } from '@carillon/testing/given';
import { leaseRanOut, type ProviderVerdict } from '../../src/deliveries/index.ts';

const story = (): DeliveryStory => new DeliveryStory();
const RESEND = { inDoubt: 'resend' } as const;
const DROP = { inDoubt: 'drop' } as const;

describe('a doubt', () => {
  it('is what an ambiguous answer leaves: nothing is sent again by itself, and the slot is never clean again', () => {
    const { delivery, path } = story().begins('t1').answers('t1', 'ambiguous');
    expect(path.at(-1)).toBe('IN_DOUBT answer_unknown');
    expect(delivery).toMatchObject({ clean: false, nextAt: null, leaseUntil: null, token: 't1' });
    expect(delivery.unpublished).toMatchObject([{ state: 'IN_DOUBT' }]);
  });

  it('is what a lease that ran out leaves', () => {
    const { delivery, path } = story().begins('t1').passes(MINUTE).losesItsSender();
    expect(path.at(-1)).toBe('IN_DOUBT lease_ran_out');
    expect(delivery).toMatchObject({ clean: false, nextAt: null, leaseUntil: null, token: 't1' });
  });

  it('is not made of anything but SENDING', () => {
    for (const told of [story(), story().begins('t1').answers('t1', 'accepted'), story().isCancelledByOperator()]) {
      expect(leaseRanOut(told.delivery, PLAIN_SETTINGS, at(MORNING))).toBeUndefined();
    }
  });

  it('is sent again under in_doubt: resend, says so, and is not clean', () => {
    for (const told of [
      story().begins('t1').answers('t1', 'ambiguous', { settings: RESEND }),
      story().begins('t1').losesItsSender(RESEND),
    ]) {
      expect(told.delivery).toMatchObject({ state: 'WAITING', reason: 'in_doubt_resend', clean: false, token: null });
      expect(told.delivery.nextAt).toBe(MORNING + PLAIN_SETTINGS.retry.first);
    }
  });

  it('stays a doubt under in_doubt: resend once the attempts are used up', () => {
    const told = story();
    for (const token of ['t1', 't2', 't3']) told.begins(token).answers(token, 'ambiguous', { settings: RESEND });
    expect(told.delivery).toMatchObject({ state: 'IN_DOUBT', nextAt: null });
  });

  it('is dropped under in_doubt: drop, and is not clean', () => {
    const told = story().begins('t1').answers('t1', 'ambiguous', { settings: DROP });
    expect(told.delivery).toMatchObject({ state: 'FAILED', reason: 'in_doubt_drop', clean: false, nextAt: null });
  });
});

describe('a late answer of the same token', () => {
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

  it('that knows no better leaves the doubt as it was', () => {
    const told = story().begins('t1').losesItsSender();
    const { history, unpublished } = told.delivery;
    told.answers('t1', 'ambiguous');
    expect(told.delivery).toMatchObject({ state: 'IN_DOUBT', history, unpublished });
  });
});

describe('evidence that an earlier attempt was accepted', () => {
  const RESENT = 'a late answer proves';
  it('calls off a resend that waits', () => {
    const told = story().begins('t1').losesItsSender(RESEND).answers('t1', 'accepted');
    expect(told.delivery).toMatchObject({ state: 'SENT', nextAt: null, token: null, clean: false });
    expect(told.delivery.detail).toContain(RESENT);
  });

  it('calls off an operator’s resend that waits', () => {
    const told = story().begins('t1').losesItsSender().isResentByOperator().answers('t1', 'accepted');
    expect(told.delivery).toMatchObject({ state: 'SENT', nextAt: null });
  });

  it('corrects FAILED and EXPIRED', () => {
    expect(story().begins('t1').losesItsSender(DROP).answers('t1', 'accepted').delivery.state).toBe('SENT');
    const expired = story().begins('t1').losesItsSender(RESEND).ends('EXPIRED', 'not_after_passed');
    expect(expired.answers('t1', 'accepted').delivery.state).toBe('SENT');
    const dismissed = story().begins('t1').losesItsSender().isDismissedByOperator('failed');
    expect(dismissed.answers('t1', 'accepted').delivery.state).toBe('SENT');
  });

  it('ends a second doubt', () => {
    const told = story().begins('t1').losesItsSender(RESEND).begins('t2').losesItsSender().answers('t1', 'accepted');
    expect(told.delivery).toMatchObject({ state: 'SENT', token: null });
  });

  for (const verdict of ['transient', 'throttled', 'refused_account', 'ambiguous', 'refused_content'] as const) {
    it(`that came during a second call keeps it from a third one after ${verdict}`, () => {
      const told = story().begins('t1').losesItsSender(RESEND).passes(MINUTE).begins('t2').answers('t1', 'accepted');
      expect(told.delivery).toMatchObject({ state: 'SENDING', token: 't2' });
      told.answers('t2', verdict, { settings: RESEND, anotherAccount: true });
      expect(told.delivery).toMatchObject({ state: 'SENT', reason: 'accepted', nextAt: null, token: null });
    });
  }

  it('that came during a second call keeps the sweeper from a third one', () => {
    const told = story().begins('t1').losesItsSender(RESEND).passes(MINUTE).begins('t2').answers('t1', 'accepted');
    expect(told.losesItsSender(RESEND).delivery).toMatchObject({ state: 'SENT', nextAt: null, token: null });
  });

  it('changes nothing about what was sent, or what a person called off', () => {
    const sent = story().begins('t1').losesItsSender(RESEND).begins('t2').answers('t2', 'accepted');
    expect(sent.answers('t1', 'accepted').delivery).toMatchObject({ state: 'SENT', history: { length: 5 } });
    const cancelled = story().begins('t1').losesItsSender(RESEND).isCancelledByOperator().answers('t1', 'accepted');
    expect(cancelled.delivery.state).toBe('CANCELLED');
    expect(cancelled.delivery.attempts[0]?.result?.verdict).toBe('accepted');
  });

  it('is only an acceptance: an old refusal stops no resend', () => {
    const told = story().begins('t1').losesItsSender(RESEND).answers('t1', 'refused_content');
    expect(told.delivery.state).toBe('WAITING');
  });
});

describe('an operator', () => {
  it('sends again what failed, expired, was called off or is in doubt: a new not_after, attempts from the start, recorded', () => {
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

  it('cannot send again what waits, is under way, was sent or suppressed, or has no address', () => {
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

  it('calls off only what waits, and dismisses only what is in doubt', () => {
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

describe('waiting for an account', () => {
  it('uses no attempt, never passes not_after, and is told once', () => {
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
