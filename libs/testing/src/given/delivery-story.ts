import {
  beginAttempt,
  endUnsent,
  decideCustody,
  leaseRanOut,
  openDelivery,
  operatorCancel,
  operatorDismiss,
  operatorResend,
  postpone,
  providerResult,
  publishedOutcomes,
  renewLease,
  settleAttempt,
  type Delivery,
  type DeliveryReason,
  type DeliverySettings,
  type Intent,
  type CustodyDecision,
  type ProviderResult,
  type ProviderVerdict,
  type SentBy,
} from '@carillon/domain/deliveries';
import { applyReceipt, type Receipt, type ReceiptResult } from '@carillon/domain/receipts';
import type {
  AttemptId,
  DeliveryId,
  Duration,
  EventId,
  Instant,
  IntentId,
  JobId,
  Result,
  RunId,
  TriggerId,
} from '@carillon/kernel';
import { at, HOUR, MORNING } from './moments.ts';

export const LEASE_SPAN: Duration = 30_000;

/** Delivery settings for tests: the defaults, but with three attempts so that tests stay short. */
export const PLAIN_SETTINGS: DeliverySettings = {
  retry: { attempts: 3, first: 30_000, max: 4 * HOUR },
  inDoubt: 'hold',
  expires: 24 * HOUR,
};

export type IntentFacts = Partial<Omit<Intent, 'slot'>> & { readonly uniqueId?: string };

/** The sending job of ada. */
export const SENT_BY_ADA: SentBy = { person: 'ada', job: 'job_sends' as JobId, run: 'run_compares' as RunId };

/** An intent for the slot of order 1 by email; `name` makes ids of its own. */
export function givenIntent(name: string, facts: IntentFacts = {}): Intent {
  const { uniqueId = 'order-1', ...rest } = facts;
  return {
    id: `int_${name}` as IntentId,
    slot: { workspace: 'shop', notificationId: 'ntf_paid', channel: 'email', uniqueId },
    notification: 'order-paid',
    rule: 'order-paid.paid',
    ruleId: 'rul_paid',
    ruleVersion: 1,
    configNumber: 0,
    eventId: `evt_${name}` as EventId,
    eventPosition: 'carillon.events/0@1',
    triggerId: `trg_${name}` as TriggerId,
    to: 'ada@example.com',
    person: 'ada@example.com',
    variables: {},
    template: 'order-paid',
    templateVersion: 1,
    causedAt: MORNING,
    sendAt: MORNING,
    notAfter: MORNING + 24 * HOUR,
    traceparent: null,
    ...rest,
  };
}

/** A receipt about an attempt; its id comes from what it says, as a provider's own would. */
export const givenReceipt = (
  deliveryId: DeliveryId,
  attempt: number,
  facts: Partial<Omit<Receipt, 'attempt'>> = {},
): Receipt => ({
  id: `rct_${attempt}_${facts.verdict ?? 'delivered'}`,
  source: 'twilio',
  account: null,
  attempt: { deliveryId, attempt, tag: null },
  verdict: 'delivered',
  suppress: null,
  alert: false,
  code: '',
  detail: 'said so',
  at: null,
  receivedAt: MORNING,
  inbound: null,
  ...facts,
});

const valueOf = <T>(result: Result<T, string>): T => {
  if (!result.ok) throw new Error(`refused: ${result.error}`);
  return result.value;
};
const thereOf = (next: Delivery | undefined, what: string): Delivery => {
  if (!next) throw new Error(`refused: ${what}`);
  return next;
};

export type Answer = Partial<Omit<ProviderResult, 'verdict'>> & {
  readonly settings?: Partial<DeliverySettings>;
  readonly anotherAccount?: boolean;
  readonly chance?: number;
};

/**
 * A delivery document built step by step with the product's own decisions. A step that the product refuses throws, so
 * every story is a possible one.
 */
export class DeliveryStory {
  delivery: Delivery;
  now: Instant;

  constructor(intent: Intent = givenIntent('first'), now: Instant = MORNING) {
    this.now = now;
    this.delivery = openDelivery(intent, 'carillon.intents/0@7', 'dlv_1' as DeliveryId, at(now));
  }

  passes(span: Duration): this {
    this.now += span;
    return this;
  }

  begins(token: string, account = 'main'): this {
    const start = { attemptId: `att_${token}` as AttemptId, token, account, leaseUntil: this.now + LEASE_SPAN };
    this.delivery = thereOf(beginAttempt(this.delivery, start, at(this.now)), `begin ${token}`);
    return this;
  }

  renews(token: string): this {
    this.delivery = thereOf(renewLease(this.delivery, token, this.now + LEASE_SPAN, this.now), `renew ${token}`);
    return this;
  }

  answers(token: string, verdict: ProviderVerdict, answer: Answer = {}): this {
    const { settings, anotherAccount = false, chance = 0, code = '', detail = 'said the server', ...more } = answer;
    const result = providerResult(verdict, code, detail, more);
    const settling = { token, result, settings: { ...PLAIN_SETTINGS, ...settings }, chance, anotherAccount };
    this.delivery = settleAttempt(this.delivery, settling, at(this.now));
    return this;
  }

  losesItsSender(settings: Partial<DeliverySettings> = {}): this {
    this.delivery = thereOf(
      leaseRanOut(this.delivery, { ...PLAIN_SETTINGS, ...settings }, at(this.now)),
      'the lease ran out',
    );
    return this;
  }

  judges(intent: Intent): CustodyDecision {
    const judged = decideCustody(this.delivery, intent, 'carillon.intents/0@8', at(this.now));
    if (judged.kind !== 'known') this.delivery = judged.next;
    return judged;
  }

  ends(state: 'SUPPRESSED' | 'EXPIRED' | 'FAILED', reason: DeliveryReason): this {
    this.delivery = thereOf(endUnsent(this.delivery, state, reason, '', at(this.now)), state);
    return this;
  }

  isPostponed(until: Instant): this {
    this.delivery = thereOf(postpone(this.delivery, until, 'no account', at(this.now)), 'postpone');
    return this;
  }

  isResentByOperator(expires: Duration = PLAIN_SETTINGS.expires): this {
    this.delivery = valueOf(operatorResend(this.delivery, expires, 'ann', at(this.now)));
    return this;
  }

  isCancelledByOperator(): this {
    this.delivery = valueOf(operatorCancel(this.delivery, 'ann', at(this.now)));
    return this;
  }

  isDismissedByOperator(as: 'failed' | 'sent'): this {
    this.delivery = valueOf(operatorDismiss(this.delivery, as, 'the recipient says so', 'ann', at(this.now)));
    return this;
  }

  /** A provider reports about an attempt, 1 for the first. */
  isReported(attempt: number, facts: Partial<Omit<Receipt, 'attempt'>> = {}): ReceiptResult {
    const receipt = givenReceipt(this.delivery.id, attempt, facts);
    const judged = applyReceipt(this.delivery, receipt, at(this.now));
    if (judged.kind === 'applied') this.delivery = judged.next;
    return judged;
  }

  isPublished(): this {
    const ids = new Set(this.delivery.unpublished.map((outcome) => outcome.id));
    this.delivery = thereOf(publishedOutcomes(this.delivery, ids), 'nothing was unpublished');
    return this;
  }

  /** The states and reasons so far, without the detail. */
  get path(): readonly string[] {
    return this.delivery.history.map(({ state, reason }) => `${state} ${reason}`);
  }
}
