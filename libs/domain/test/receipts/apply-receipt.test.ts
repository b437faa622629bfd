import type { Delivery } from '../../src/deliveries/index.ts';
import { applyReceipt, attemptTag, withReceipts, type Receipt, type ReportVerdict } from '../../src/receipts/index.ts';
import { at, DeliveryStory, givenIntent, givenReceipt, MINUTE, MORNING, PLAIN_SETTINGS } from '@carillon/testing/given';
import type { DeliveryId } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const sent = (): DeliveryStory => new DeliveryStory().begins('t1').answers('t1', 'accepted');
const RESEND = { inDoubt: 'resend' } as const;

describe('a receipt (a provider’s later report about a message)', () => {
  it.each([
    ['note', 'SENT accepted'],
    ['delivered', 'DELIVERED delivered'],
    ['bounced', 'BOUNCED bounced'],
    ['complained', 'COMPLAINED complained'],
  ] as const)('%s changes an accepted delivery to %s', (verdict, end) => {
    const told = sent();
    expect(told.isReported(1, { verdict }).kind).toBe('applied');
    expect(told.path.at(-1)).toBe(end);
    expect(told.delivery.receipts).toMatchObject([{ verdict, attempt: 1 }]);
  });

  it('is applied once if it arrives twice', () => {
    const told = sent();
    told.isReported(1, { verdict: 'delivered' });
    const { version } = told.delivery;
    expect(told.isReported(1, { verdict: 'delivered' })).toMatchObject({ kind: 'known' });
    expect(told.delivery.version).toBe(version);
  });

  it('never replaces a receipt of higher rank', () => {
    const told = sent();
    told.isReported(1, { verdict: 'bounced' });
    told.isReported(1, { verdict: 'delivered' });
    expect(told.delivery.state).toBe('BOUNCED');
    told.isReported(1, { verdict: 'complained' });
    told.isReported(1, { verdict: 'bounced', id: 'rct_again' });
    expect(told.delivery.state).toBe('COMPLAINED');
  });

  it('takes effect when the call ends, if it arrives before the response of its own call', () => {
    for (const verdict of ['accepted', 'ambiguous'] as const) {
      const told = new DeliveryStory().begins('t1');
      told.isReported(1, { verdict: 'bounced' });
      expect(told.delivery).toMatchObject({ state: 'SENDING', token: 't1' });
      told.answers('t1', verdict);
      expect(told.delivery).toMatchObject({ state: 'BOUNCED', token: null, leaseUntil: null, clean: true });
    }
  });

  it('prevents the state in doubt if it arrived before its worker died', () => {
    const told = new DeliveryStory().begins('t1');
    told.isReported(1, { verdict: 'delivered' });
    told.losesItsSender();
    expect(told.delivery).toMatchObject({ state: 'DELIVERED', leaseUntil: null });
  });

  it('ends the state in doubt', () => {
    const told = new DeliveryStory().begins('t1').losesItsSender();
    told.isReported(1, { verdict: 'note', detail: 'queued' });
    expect(told.delivery).toMatchObject({ state: 'SENT', reason: 'evidence', token: null });
    expect(told.delivery.detail).toContain('queued');
  });

  it('cancels a resend that is waiting, and makes a delivery SENT that expired in doubt', () => {
    const waits = new DeliveryStory().begins('t1').losesItsSender(RESEND);
    waits.isReported(1, { verdict: 'delivered' });
    expect(waits.delivery).toMatchObject({ state: 'DELIVERED', nextAt: null });
    const expired = new DeliveryStory().begins('t1').losesItsSender(RESEND).ends('EXPIRED', 'not_after_passed');
    expired.isReported(1, { verdict: 'note' });
    expect(expired.delivery.state).toBe('SENT');
    const dismissed = new DeliveryStory().begins('t1').losesItsSender().isDismissedByOperator('failed');
    dismissed.isReported(1, { verdict: 'bounced' });
    expect(dismissed.delivery.state).toBe('BOUNCED');
  });

  it('of an earlier attempt leaves the running call alone, and counts when that call has ended', () => {
    const told = new DeliveryStory().begins('t1').losesItsSender(RESEND).passes(MINUTE).begins('t2');
    told.isReported(1, { verdict: 'delivered' });
    expect(told.delivery).toMatchObject({ state: 'SENDING', token: 't2' });
    told.answers('t2', 'transient');
    expect(told.delivery).toMatchObject({ state: 'DELIVERED', nextAt: null });
  });

  it('of a call that the provider definitely refused proves nothing', () => {
    const told = new DeliveryStory().begins('t1').answers('t1', 'transient');
    told.isReported(1, { verdict: 'delivered' });
    expect(told.delivery).toMatchObject({ state: 'WAITING' });
    expect(told.delivery.receipts).toHaveLength(1);
  });

  it('of an earlier attempt proves nothing about an attempt that an operator started', () => {
    const told = new DeliveryStory().begins('t1').losesItsSender(RESEND).isCancelledByOperator();
    told.isReported(1, { verdict: 'bounced' });
    told.isResentByOperator().begins('t2').answers('t2', 'accepted');
    expect(told.delivery).toMatchObject({ state: 'SENT', reason: 'accepted' });
  });

  it('of an earlier attempt is ignored once a later attempt was accepted', () => {
    const told = new DeliveryStory().begins('t1').losesItsSender(RESEND).passes(MINUTE).begins('t2');
    told.isReported(1, { verdict: 'bounced' });
    told.answers('t2', 'accepted').isReported(2, { verdict: 'note' });
    expect(told.delivery.state).toBe('SENT');
    told.isReported(1, { verdict: 'complained' });
    expect(told.delivery.state).toBe('SENT');
    told.isReported(2, { verdict: 'delivered' });
    expect(told.delivery.state).toBe('DELIVERED');
  });

  it('applies to a document that was written before receipts existed', () => {
    const { receipts: _, ...rest } = sent().delivery;
    const attempts = rest.attempts.map(({ to: __, ...attempt }) => attempt);
    const older = withReceipts({ ...rest, attempts } as unknown as Delivery);
    const judged = applyReceipt(older, givenReceipt(older.id, 1, { suppress: 'hard_bounce' }), at(MORNING));
    expect(judged).toMatchObject({ kind: 'applied', suppress: { address: 'ada@example.com' } });
  });

  it('does not change a cancellation by an operator', () => {
    const told = new DeliveryStory().isCancelledByOperator();
    expect(told.isReported(1).kind).toBe('unknown');
    const after = new DeliveryStory().begins('t1').losesItsSender(RESEND).isCancelledByOperator();
    after.isReported(1, { verdict: 'delivered' });
    expect(after.delivery.state).toBe('CANCELLED');
  });

  it('is reported as unknown if it is for another delivery, a missing attempt, or another account', () => {
    const { delivery } = sent();
    const judge = (receipt: Receipt) => applyReceipt(delivery, receipt, at(MORNING)).kind;
    expect(judge(givenReceipt('dlv_other' as DeliveryId, 1))).toBe('unknown');
    expect(judge(givenReceipt(delivery.id, 2))).toBe('unknown');
    expect(judge({ ...givenReceipt(delivery.id, 1), attempt: null })).toBe('unknown');
    expect(judge(givenReceipt(delivery.id, 1, { account: 'acme/own' }))).toBe('unknown');
    expect(judge(givenReceipt(delivery.id, 1, { account: 'main' }))).toBe('applied');
  });

  it('of an attempt that a restored backup lacks does not match the later attempt with the same number', () => {
    const { delivery } = sent();
    const [now] = delivery.attempts;
    if (!now) throw new Error('nothing was sent');
    const judge = (tag: string) => {
      const attempt = { deliveryId: delivery.id, attempt: 1, tag };
      return applyReceipt(delivery, { ...givenReceipt(delivery.id, 1), attempt }, at(MORNING)).kind;
    };
    expect(judge(attemptTag(now.id))).toBe('applied');
    expect(judge('gone')).toBe('unknown');
  });

  it('suppresses the address of its own attempt, also if it is repeated', () => {
    const told = new DeliveryStory(givenIntent('first', { to: 'old@example.com' }));
    told
      .begins('t1')
      .answers('t1', 'refused_content')
      .judges(givenIntent('second', { to: 'new@example.com' }));
    told.begins('t2').answers('t2', 'accepted');
    const facts = { verdict: 'bounced', suppress: 'hard_bounce' } as const;
    const expected = { suppress: { source: 'hard_bounce', address: 'new@example.com' } };
    expect(told.isReported(2, facts)).toMatchObject({ kind: 'applied', ...expected });
    expect(told.isReported(2, facts)).toMatchObject({ kind: 'known', ...expected });
  });
});

describe('receipts in any order', () => {
  const verdict = fc.constantFrom<ReportVerdict>('note', 'delivered', 'bounced', 'complained');
  type Step = { readonly kind: 'report'; readonly verdict: ReportVerdict } | { readonly kind: 'answer' | 'dies' };
  const steps = fc
    .tuple(
      fc.array(verdict, { minLength: 1, maxLength: 6 }),
      fc.constantFrom('answer' as const, 'dies' as const),
      fc.nat(6),
    )
    .map(([verdicts, end, place]): readonly Step[] => {
      const all: Step[] = verdicts.map((one) => ({ kind: 'report', verdict: one }));
      return all.toSpliced(place, 0, { kind: end });
    });
  const RANKS = ['SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED'];

  function tell(list: readonly Step[], law?: (before: Delivery, after: Delivery) => void): DeliveryStory {
    const told = new DeliveryStory().begins('t1');
    for (const step of list) {
      const before = told.delivery;
      if (step.kind === 'report') told.isReported(1, { verdict: step.verdict });
      else if (step.kind === 'answer') told.answers('t1', 'accepted');
      else told.losesItsSender();
      if (told.delivery !== before) law?.(before, told.delivery);
    }
    return told;
  }

  it('leave the delivery in the highest reported state', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const said = list.flatMap((step) => (step.kind === 'report' ? [step.verdict] : []));
        const order: readonly ReportVerdict[] = ['note', 'delivered', 'bounced', 'complained'];
        const highest = Math.max(...said.map((one) => order.indexOf(one)));
        expect(tell(list).delivery.state).toBe(RANKS[highest]);
      }),
    );
  });

  it('increment the version by one per write, and never lower an accepted delivery', () => {
    fc.assert(
      fc.property(steps, (list) => {
        tell(list, (before, after) => {
          expect(after.version).toBe(before.version + 1);
          expect(RANKS.indexOf(after.state)).toBeGreaterThanOrEqual(RANKS.indexOf(before.state));
        });
      }),
    );
  });

  it('never cause another send', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const told = tell(list);
        expect(() => told.begins('t2')).toThrow('refused');
        expect(told.delivery.nextAt).toBeNull();
        expect(PLAIN_SETTINGS.inDoubt).toBe('hold');
      }),
    );
  });
});
