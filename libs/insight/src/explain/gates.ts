import { describeReason, type Delivery, type DeliveryReason, type DeliveryState } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';

/** Gates between an event and a notified person, in their order. */
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

/** `unknown`: no stored data decides it. */
export type GateResult = 'passed' | 'stopped' | 'waiting' | 'in_doubt' | 'not_reached' | 'unknown';

/** Data from which a gate was decided. */
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

/** Gate of each delivery reason. */
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

/** Returns all gates in order: the known ones, and the rest as not reached. `own`: optional gates of this rule. */
export const allGates = (known: readonly Gate[], own: readonly GateName[] = []): readonly Gate[] => {
  const byName = new Map(known.map((each) => [each.gate, each]));
  const isShown = (name: GateName): boolean => byName.has(name) || own.includes(name) || !OF_SOME_RULES.has(name);
  return GATES.filter(isShown).map((name) => byName.get(name) ?? gate(name, 'not_reached'));
};

/**
 * Returns the gates from `duplicate` on for one intent, from the ledger. All checks before a send run at each attempt,
 * so a delivery that a gate holds or ended has passed the earlier gates.
 * @param digest The digest that includes the message, or null.
 */
export function gatesOfDelivery(delivery: Delivery, intentId: string, digest: Delivery | null): readonly Gate[] {
  const { id, intent, history } = delivery;
  const evidence: Evidence[] = [{ kind: 'delivery', id }];
  if (intent.id !== intentId) {
    const own = history.findLast((entry) => entry.intentId === intentId);
    // The intent had ended before another event took the slot over.
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
    const own = gatesOfDelivery(digest, digest.intent.id, null).filter((each) => each.gate !== 'schedule');
    return [inDigest, ...own];
  }
  const { state, reason, detail, updatedAt } = delivery;
  const gates = gatesOfMove({ state, reason, detail, at: updatedAt }, evidence);
  const attempts = delivery.attempts.map(({ account, result }) =>
    result ? `${account}: ${result.verdict} ${result.code} ${result.detail}`.trimEnd() : `${account}: no answer known`,
  );
  return gates.map((each) => (each.gate === 'provider' ? { ...each, lines: attempts } : each));
}

/** Reasons of deliveries before the checks of a send. */
const UNCHECKED: ReadonlySet<DeliveryReason> = new Set([
  'new',
  'operator_resend',
  'operator_cancel',
  'in_doubt_resend',
]);
/** Reasons that are checked before opt-outs. */
const ADDRESS_FIRST: ReadonlySet<DeliveryReason> = new Set(['no_address', 'invalid_address']);

type Move = {
  readonly state: DeliveryState;
  readonly reason: DeliveryReason;
  readonly detail: string;
  readonly at: Instant;
};

function gatesOfMove({ state, reason, detail, at }: Move, evidence: readonly Evidence[]): readonly Gate[] {
  const gateName = GATE_OF[reason];
  const isReceipt = gateName === 'receipt';
  // The detail names the author or limit, so it needs the reason before it.
  const happened = RESULT_OF[state] === 'stopped' ? `${describeReason(reason)}: ` : '';
  const text = detail === '' ? describeReason(reason) : `${happened}${detail}`;
  const own = gate(gateName, RESULT_OF[state], text, { at, evidence });
  const from = GATES.indexOf('duplicate');
  const before = GATES.slice(Math.min(from, GATES.indexOf(gateName)), GATES.indexOf(gateName)).map((name) => {
    if (name === 'duplicate') return gate(name, 'passed', '', { evidence });
    if (UNCHECKED.has(reason)) return gate(name, 'not_reached');
    if (name === 'consent' && ADDRESS_FIRST.has(reason)) return gate(name, 'not_reached');
    return gate(name, 'passed', name === 'provider' && isReceipt ? describeReason('accepted') : '', { evidence });
  });
  const after =
    gateName === 'provider' && RESULT_OF[state] === 'passed'
      ? [gate('receipt', 'unknown', 'no receipt has arrived; many providers send none')]
      : [];
  return [...before, own, ...after];
}
