import { describeReason, type Delivery, type DeliveryReason, type DeliveryState } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';

/** What stands between an event and somebody who is told, in the order in which it is told. */
export const GATES = [
  'event',
  'rule',
  'condition',
  'unless',
  'deadline',
  'recipient',
  'duplicate',
  'in_time',
  'consent',
  'address',
  'schedule',
  'rendered',
  'limits',
  'provider',
  'receipt',
] as const;
export type GateName = (typeof GATES)[number];

export const GATE_TITLES: Readonly<Record<GateName, string>> = {
  event: 'An event arrived',
  rule: 'An enabled rule received it',
  condition: 'The rule fired',
  unless: 'No later event cancelled the wait',
  deadline: 'The deadline has passed',
  recipient: 'They were among its recipients',
  duplicate: 'They were not notified before',
  in_time: 'It was still in time',
  consent: 'They have not opted out',
  address: 'Their address can be used',
  schedule: 'No quiet hours, delay or digest',
  rendered: 'The message could be rendered',
  limits: 'No limit was reached',
  provider: 'A provider accepted it',
  receipt: 'It arrived',
};

/** `unknown`: nothing that is kept says. */
export type GateResult = 'passed' | 'stopped' | 'waiting' | 'in_doubt' | 'not_reached' | 'unknown';

/** What a gate was answered from. */
export type GateSource = 'projection' | 'log' | 'state' | 'ledger' | 'configuration';

export type Evidence = { readonly kind: 'event' | 'delivery' | 'rule' | 'notification'; readonly id: string };

export type Gate = {
  readonly gate: GateName;
  readonly result: GateResult;
  readonly text: string;
  readonly at: Instant | null;
  readonly lines: readonly string[];
  readonly evidence: readonly Evidence[];
  readonly source: GateSource | null;
};

/** The gate that a reason of the ledger is of. */
const GATE_OF: Readonly<Record<DeliveryReason, GateName>> = {
  rule_withdrawn: 'rule',
  cannot_send_on_channel: 'rule',
  taken_over: 'duplicate',
  duplicate: 'duplicate',
  not_after_passed: 'in_time',
  opted_out: 'consent',
  no_address: 'address',
  invalid_address: 'address',
  suppressed_address: 'address',
  delayed: 'schedule',
  held_by_quiet_hours: 'schedule',
  quiet_hours: 'schedule',
  collected: 'schedule',
  digested: 'schedule',
  cannot_render: 'rendered',
  held_by_limit: 'limits',
  capped: 'limits',
  new: 'provider',
  no_account: 'provider',
  refused_recipient: 'provider',
  refused_content: 'provider',
  refused_account: 'provider',
  throttled: 'provider',
  transient: 'provider',
  attempts_used_up: 'provider',
  accepted: 'provider',
  answer_unknown: 'provider',
  lease_ran_out: 'provider',
  stopped_before_sending: 'provider',
  account_unavailable: 'provider',
  operator_resend: 'provider',
  operator_cancel: 'provider',
  operator_dismiss: 'provider',
  in_doubt_resend: 'provider',
  in_doubt_drop: 'provider',
  evidence: 'provider',
  delivered: 'receipt',
  bounced: 'receipt',
  complained: 'receipt',
};

const RESULT_OF: Readonly<Record<DeliveryState, GateResult>> = {
  WAITING: 'waiting',
  SENDING: 'waiting',
  COLLECTED: 'waiting',
  DIGESTED: 'passed',
  SUPPRESSED: 'stopped',
  FAILED: 'stopped',
  EXPIRED: 'stopped',
  CANCELLED: 'stopped',
  BOUNCED: 'stopped',
  SENT: 'passed',
  DELIVERED: 'passed',
  COMPLAINED: 'passed',
  IN_DOUBT: 'in_doubt',
};

export const gate = (name: GateName, result: GateResult, text = '', more: Partial<Gate> = {}): Gate => ({
  gate: name,
  result,
  text,
  at: null,
  lines: [],
  evidence: [],
  source: result === 'not_reached' ? null : 'ledger',
  ...more,
});

/** Gates that only some rules have. */
const OF_SOME_RULES: ReadonlySet<GateName> = new Set(['unless', 'deadline']);

/** All gates in their order: those that are known, and those that nothing came to. `own`: gates that not every rule has. */
export const allGates = (known: readonly Gate[], own: readonly GateName[] = []): readonly Gate[] => {
  const byName = new Map(known.map((one) => [one.gate, one]));
  const isShown = (name: GateName): boolean => byName.has(name) || own.includes(name) || !OF_SOME_RULES.has(name);
  return GATES.filter(isShown).map((name) => byName.get(name) ?? gate(name, 'not_reached'));
};

/**
 * The gates from `duplicate` on, as the ledger has them of one intent. What is checked before a send is checked anew at each attempt, all
 * of it: a delivery that a gate holds or has ended passed those before it.
 *
 * @param digest Where the message is an item of a digest: that one.
 */
export function gatesOfDelivery(delivery: Delivery, intentId: string, digest: Delivery | null): readonly Gate[] {
  const { id, intent, history } = delivery;
  const evidence: Evidence[] = [{ kind: 'delivery', id }];
  if (intent.id !== intentId) {
    const own = history.findLast((entry) => entry.intentId === intentId);
    // Its own story ended before another event took the slot over.
    if (own && RESULT_OF[own.state] !== 'waiting') return gatesOfMove(own, evidence);
    const holder = [...evidence, { kind: 'event', id: intent.eventId } as const];
    const text = own
      ? `replaced by the newer event ${intent.eventId}`
      : `already notified for event ${intent.eventId}: delivery ${id} is ${delivery.state}`;
    return [gate('duplicate', 'stopped', text, { at: own?.at ?? delivery.createdAt, evidence: holder })];
  }
  if (digest) {
    const inDigest = gate('schedule', 'passed', `sent in digest ${digest.id}`, {
      at: delivery.updatedAt,
      evidence: [...evidence, { kind: 'delivery', id: digest.id }],
    });
    const own = gatesOfDelivery(digest, digest.intent.id, null).filter((one) => one.gate !== 'schedule');
    return [inDigest, ...own];
  }
  const { state, reason, detail, updatedAt } = delivery;
  const gates = gatesOfMove({ state, reason, detail, at: updatedAt }, evidence);
  const attempts = delivery.attempts.map(({ account, result }) =>
    result ? `${account}: ${result.verdict} ${result.code} ${result.detail}`.trimEnd() : `${account}: no answer known`,
  );
  return gates.map((one) => (one.gate === 'provider' ? { ...one, lines: attempts } : one));
}

/** So a delivery stands before the checks of a send. */
const UNCHECKED: ReadonlySet<DeliveryReason> = new Set([
  'new',
  'operator_resend',
  'operator_cancel',
  'in_doubt_resend',
]);
/** Checked before anybody's wishes are. */
const ADDRESS_FIRST: ReadonlySet<DeliveryReason> = new Set(['no_address', 'invalid_address']);

type Move = {
  readonly state: DeliveryState;
  readonly reason: DeliveryReason;
  readonly detail: string;
  readonly at: Instant;
};

function gatesOfMove({ state, reason, detail, at }: Move, evidence: readonly Evidence[]): readonly Gate[] {
  const place = GATE_OF[reason];
  const isReceipt = place === 'receipt';
  // Who left an address out, or which limit it was, says nothing without what happened.
  const happened = RESULT_OF[state] === 'stopped' ? `${describeReason(reason)}: ` : '';
  const words = detail === '' ? describeReason(reason) : `${happened}${detail}`;
  const own = gate(place, RESULT_OF[state], words, { at, evidence });
  const from = GATES.indexOf('duplicate');
  const before = GATES.slice(Math.min(from, GATES.indexOf(place)), GATES.indexOf(place)).map((name) => {
    if (name === 'duplicate') return gate(name, 'passed', '', { evidence });
    if (UNCHECKED.has(reason)) return gate(name, 'not_reached');
    if (name === 'consent' && ADDRESS_FIRST.has(reason)) return gate(name, 'not_reached');
    return gate(name, 'passed', name === 'provider' && isReceipt ? describeReason('accepted') : '', { evidence });
  });
  const after =
    place === 'provider' && RESULT_OF[state] === 'passed'
      ? [gate('receipt', 'unknown', 'no receipt has arrived; many providers send none')]
      : [];
  return [...before, own, ...after];
}
