import type { Delivery, DeliveryReason } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';

/** One line of a story: what happened when, where it stands, and why. It holds no body, and an address only where it names the person. */
export type TraceStep = {
  readonly at: Instant | null;
  readonly step:
    | 'event'
    | 'evaluation'
    | 'rule'
    | 'trigger'
    | 'lookup'
    | 'intent'
    | 'delivery'
    | 'attempt'
    | 'duplicate'
    | 'dead_letter';
  readonly id: string | null;
  readonly position: string | null;
  readonly configNumber: number | null;
  readonly rule: string | null;
  readonly ruleVersion: number | null;
  readonly state: string | null;
  readonly reason: string | null;
  /** Whom the step is about, as the rule names them; null: everybody, or nobody knows any more. */
  readonly person: string | null;
  readonly text: string;
  /** Further lines, such as the value of each sub-expression. */
  readonly lines: readonly string[];
};

export const step = (
  kind: TraceStep['step'],
  at: Instant | null,
  text: string,
  more: Partial<TraceStep> = {},
): TraceStep => ({
  at,
  step: kind,
  id: null,
  position: null,
  configNumber: null,
  rule: null,
  ruleVersion: null,
  state: null,
  reason: null,
  person: null,
  text,
  lines: [],
  ...more,
});

/** What each reason means to the person who reads it at night. */
export const REASON_WORDS: Readonly<Record<DeliveryReason, string>> = {
  new: 'taken into custody',
  rule_withdrawn: 'the notification or rule was switched off or removed before it was sent',
  no_address: 'the recipient has no address on this channel',
  invalid_address: 'what stands for the address is none that this channel can send to',
  opted_out: 'the person wants no more of it',
  suppressed_address: 'the address is on the suppression list',
  cannot_send_on_channel: 'the notification no longer uses this channel',
  not_after_passed: 'it was too late to be of use (expires)',
  delayed: 'the notification puts its messages off; it goes out when the delay is over',
  held_by_quiet_hours: 'it is night where the recipient is; it goes out when the quiet hours end',
  held_by_limit: 'its recipient has had as many messages as a limit allows; it goes out when there is room',
  capped: 'its recipient has had as many messages as a limit allows',
  quiet_hours: 'it would have gone out in quiet hours, and could not wait',
  collected: 'it waits to be told together with others',
  digested: 'it is told in a digest',
  cannot_render: 'the template could not be rendered',
  no_account: 'the notification names no provider account that exists',
  refused_recipient: 'the provider refuses this recipient for good',
  refused_content: 'the provider refuses this message for good',
  refused_account: 'the provider refuses our account; it is tried again every minute',
  throttled: 'the provider asks to slow down; it will be tried again',
  transient: 'definitely not accepted; it will be tried again',
  attempts_used_up: 'every attempt was used',
  accepted: 'accepted by the provider',
  answer_unknown: 'nobody can say whether the provider accepted it; it is not sent again by itself',
  lease_ran_out: 'the sender died or fell silent during the call; nobody can say whether it was accepted',
  stopped_before_sending: 'the process stopped before the message was begun',
  account_unavailable: 'no provider account can take it now',
  operator_resend: 'an operator sends it again',
  operator_cancel: 'an operator called it off',
  operator_dismiss: 'an operator ended the doubt',
  in_doubt_resend: 'in doubt, and the notification says to send again',
  in_doubt_drop: 'in doubt, and the notification says to drop',
  taken_over: 'another intent took the slot over',
  duplicate: 'the slot is taken: this notification was told already',
  delivered: 'the provider reported that it arrived',
  bounced: 'the provider reported that it could not be delivered',
  complained: 'the reader reported it as spam',
  evidence: 'a report of the provider proves that it was accepted',
};

/** The story of a delivery: custody, each attempt, each move, of every intent that held the slot or of one. */
export function deliverySteps(delivery: Delivery, intentId?: string): TraceStep[] {
  const moves = delivery.history
    .filter((entry) => intentId === undefined || entry.intentId === intentId)
    .map((entry) =>
      step('delivery', entry.at, entry.detail === '' ? REASON_WORDS[entry.reason] : entry.detail, {
        id: delivery.id,
        state: entry.state,
        reason: entry.reason,
        person: personOf(entry.intentId, delivery),
      }),
    );
  const attempts = delivery.attempts
    .map((attempt) => ({ attempt, holder: holderAt(attempt.startedAt, delivery) }))
    .filter(({ holder }) => intentId === undefined || holder === intentId)
    .map(({ attempt, holder }) =>
      step('attempt', attempt.endedAt ?? attempt.startedAt, attemptWords(attempt), {
        id: attempt.id,
        state: attempt.result?.verdict ?? 'open',
        reason: attempt.result?.code ?? null,
        person: personOf(holder, delivery),
      }),
    );
  const made = intentId === undefined || delivery.intent.id === intentId ? digestSteps(delivery) : [];
  const taken = intentId === undefined ? [] : takenOverBy(intentId, delivery);
  return [...made, ...moves, ...attempts, ...taken].toSorted(byTime);
}

/** An intent that lost the slot is kept by its id alone: whom its rule named can be another, and is not said. */
const personOf = (intentId: string | null, { intent }: Delivery): string | null =>
  intentId === intent.id ? intent.person : null;

/** What a digest was made of, so that the way leads back to each item. */
function digestSteps({ id, intent, createdAt }: Delivery): TraceStep[] {
  if (!intent.digest) return [];
  const items = intent.digest.items.map(({ deliveryId }) => deliveryId);
  const words = `a digest of ${items.length === 1 ? 'one item' : `${items.length} items`}: ${items.join(', ')}`;
  return [step('delivery', createdAt, words, { id, person: intent.person })];
}

/** Whose intent held the slot then: another may have taken it over since, and an attempt stays that of its time. */
function holderAt(time: Instant, { history, intent }: Delivery): string {
  return history.findLast(({ at }) => at <= time)?.intentId ?? history[0]?.intentId ?? intent.id;
}

/** That another event took over the slot of an intent; nothing while it holds it. */
function takenOverBy(intentId: string, { id, history, intent }: Delivery): TraceStep[] {
  const last = history.findLastIndex((entry) => entry.intentId === intentId);
  const taker = last < 0 ? undefined : history[last + 1];
  if (!taker) return [];
  const who = taker.intentId === intent.id ? `event ${intent.eventId}` : 'another event';
  return [step('delivery', taker.at, `${who} took the slot over`, { id, reason: 'taken_over' })];
}

function attemptWords(attempt: Delivery['attempts'][number]): string {
  if (!attempt.result) return `call over ${attempt.account}, no answer known`;
  const took = (attempt.endedAt ?? attempt.startedAt) - attempt.startedAt;
  const { verdict, code, detail } = attempt.result;
  return `call over ${attempt.account}: ${verdict} ${code} ${detail}`.trimEnd() + ` (${took} ms)`;
}

/** What causes comes before what it caused, where the clock gives both the same time: an attempt before the moves after it. */
const RANK: Partial<Record<TraceStep['step'], number>> = { attempt: 1, delivery: 2 };

export const byTime = (a: TraceStep, b: TraceStep): number =>
  (a.at ?? 0) - (b.at ?? 0) || (RANK[a.step] ?? 0) - (RANK[b.step] ?? 0);

/** All steps in the order of time; one without a time stays behind the one that it follows. */
export function inOrder(steps: readonly TraceStep[]): readonly TraceStep[] {
  let time = 0;
  const timed = steps.map((one) => ({ one, time: (time = one.at ?? time) }));
  return timed.toSorted((a, b) => a.time - b.time).map(({ one }) => one);
}
