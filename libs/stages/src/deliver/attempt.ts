import { limitVerdict } from '@carillon/domain/cadence';
import { withoutRepeatedWords } from '@carillon/domain/channels';
import { publicUrlOf, type LocalityVariable, type Resource } from '@carillon/domain/configuration';
import {
  deliverySettings,
  endUnsent,
  holdBack,
  lookAgain,
  postpone,
  providerResult,
  reportAddress,
  settleAttempt,
  STOPPED,
  type AccountChoice,
  type Delivery,
  type DeliverySettings,
  type Hold,
  type Moment,
  type PresendVerdict,
  type ProviderResult,
} from '@carillon/domain/deliveries';
import { writeReceiptToken } from '@carillon/domain/receipts';
import type { Duration, Instant } from '@carillon/kernel';
import { messageOf } from '@carillon/kernel';
import type {
  ChannelSender,
  Clock,
  ConfigurationView,
  ConsentStore,
  LimitStore,
  LinkTokens,
  SuppressionList,
  TemplateRenderer,
} from '@carillon/ports';
import { checkBeforeSend, type ReadBeforeSend } from './before-send.ts';
import { recheckDigest } from './digests/recheck.ts';
import { holdLease } from './lease.ts';
import { giveBack } from './limits.ts';
import type { OutcomePorts } from './outcomes.ts';
import { renderMessage, type RenderedForSending } from './render-message.ts';
import { LEASE, stepIntoSending } from './step-into-sending.ts';
import { publish, transitionAndPublish, type Transition } from './transition.ts';

/** An account with free capacity for one message. The caller calls `release` once, after the call. */
export type AccountHold = {
  readonly choice: AccountChoice;
  readonly sender: ChannelSender;
  release(result: ProviderResult | null): void;
};

/** Options for a delivery besides the held account, or without one. */
export type AccountFallback = {
  /** If no account is free: the time of the next attempt. Null if no account exists. */
  readonly retryAt: Instant | null;
  /** Why no account exists, for people. By default, that none of the named accounts exists. */
  readonly noAccount?: string;
  /** True if another account can take the message now. */
  readonly anotherAccount: boolean;
};

export type AttemptPorts = OutcomePorts & {
  readonly configuration: ConfigurationView;
  readonly consents: Pick<ConsentStore, 'find'>;
  readonly limits: LimitStore;
  readonly suppressions: SuppressionList;
  readonly links: Pick<LinkTokens, 'seal'>;
  readonly templates: TemplateRenderer;
  readonly clock: Clock;
  /** Resolves after the time span. Used for ledger retries and lease renewal. */
  readonly pause: (span: Duration) => Promise<void>;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
  /** Checks before a send, in order. Defaults to all checks. */
  readonly holds?: readonly Hold[];
  /** Collects deliveries of one digest head and publishes their outcomes. Returns the collected ones. */
  readonly collect: (deliveries: readonly Delivery[], why: string) => Promise<readonly Delivery[]>;
};

/** Names missing from the data, and reserved variables with invalid values. */
type Blanks = { readonly missing: number; readonly wrongLocality: readonly LocalityVariable[] };

/** Result of an attempt. `postponed`, `ended` and `stale` made no call. */
export type AttemptReport =
  | { readonly kind: 'stale' }
  /** Waits for its digest; the outcome is on the log. */
  | { readonly kind: 'collected' }
  | ({ readonly kind: 'ended' | 'postponed' } & Transition)
  | ({ readonly kind: 'called'; readonly result: ProviderResult } & Transition & Blanks);

/** No call was made. */
type Uncalled = Exclude<AttemptReport, { kind: 'called' }>;

const NO_SUCH_ACCOUNT = 'the notification names no account that exists';

/** Time until a check of a limit that is filled by messages still being sent. */
const LOOK_AGAIN: Duration = 1000;

/**
 * Second half of delivering: one attempt through an account that the caller holds. The step into SENDING is durable
 * before the first byte is sent and decided by compare-and-set, so only one of several workers calls the provider.
 * `hold` is null if no account is free: the delivery then waits until `retryAt`, or fails if no account exists.
 */
export async function attemptDelivery(
  delivery: Delivery,
  hold: AccountHold | null,
  fallback: AccountFallback,
  ports: AttemptPorts,
): Promise<AttemptReport> {
  let result: ProviderResult | null = null;
  try {
    const report = await attempt(delivery, hold, fallback, ports);
    if (report.kind === 'called') result = report.result;
    return report;
  } finally {
    hold?.release(result);
  }
}

async function attempt(
  delivery: Delivery,
  hold: AccountHold | null,
  fallback: AccountFallback,
  ports: AttemptPorts,
): Promise<AttemptReport> {
  const { verdict, known } = await checkBeforeSend(delivery, ports);
  if (verdict.kind !== 'go') return keepBack(delivery, verdict, ports);
  if (!hold) {
    if (fallback.retryAt === null) {
      return endNow(delivery, 'FAILED', 'no_account', fallback.noAccount ?? NO_SUCH_ACCOUNT, ports);
    }
    const detail = 'no provider account can take it now';
    return write(postpone(delivery, fallback.retryAt, detail, moment(ports)), 'postponed', ports);
  }
  const checked = await recheckDigest(delivery, ports);
  if (checked === undefined) return { kind: 'stale' };
  if (checked === null) return endNow(delivery, 'SUPPRESSED', 'duplicate', NOTHING_LEFT, ports);
  return send(checked, hold, { known: { ...known, delivery: checked }, verdict }, fallback, ports);
}

const NOTHING_LEFT = 'other messages hold the slots of all its items by now';

async function send(
  delivery: Delivery,
  hold: AccountHold,
  { known, verdict }: { readonly known: ReadBeforeSend; readonly verdict: Extract<PresendVerdict, { kind: 'go' }> },
  fallback: AccountFallback,
  ports: AttemptPorts,
): Promise<AttemptReport> {
  const rendered = await renderMessage(delivery, hold.choice, ports);
  if (!rendered.ok) return endNow(delivery, 'FAILED', 'cannot_render', rendered.why, ports);
  const step = await stepIntoSending(delivery, verdict.notification, known.newest, hold.choice.key, ports);
  switch (step.kind) {
    case 'sending':
      return call(step.delivery, hold, rendered, settlingOf(verdict.notification, fallback), ports);
    case 'stale':
      return { kind: 'stale' };
    case 'again':
      return write(lookAgain(delivery, ports.clock.now() + LOOK_AGAIN, ports.clock.now()), 'postponed', ports);
    case 'full':
      return keepBack(delivery, limitVerdict(step.full, delivery, verdict.notification, step.zone), ports);
  }
}

/** Applies the verdict of a hold to the delivery. */
export async function keepBack(
  delivery: Delivery,
  verdict: Exclude<PresendVerdict, { kind: 'go' }>,
  ports: AttemptPorts,
): Promise<Uncalled> {
  switch (verdict.kind) {
    case 'collect':
      return (await ports.collect([delivery], verdict.detail)).length > 0 ? { kind: 'collected' } : { kind: 'stale' };
    case 'end':
      return endNow(delivery, verdict.state, verdict.reason, verdict.detail, ports);
    case 'wait': {
      const next = holdBack(delivery, verdict, moment(ports));
      return write(next, next?.state === 'WAITING' ? 'postponed' : 'ended', ports);
    }
  }
}

const moment = ({ clock, ids }: AttemptPorts): Moment => ({ now: clock.now(), derive: ids.derive });

async function write(next: Delivery | undefined, kind: 'ended' | 'postponed', ports: AttemptPorts): Promise<Uncalled> {
  const moved = next && (await transitionAndPublish(next, ports));
  return moved ? { kind, ...moved } : { kind: 'stale' };
}

const endNow = (
  delivery: Delivery,
  state: 'SUPPRESSED' | 'EXPIRED' | 'FAILED',
  reason: Delivery['reason'],
  detail: string,
  ports: AttemptPorts,
): Promise<Uncalled> => write(endUnsent(delivery, state, reason, detail, moment(ports)), 'ended', ports);

type Ready = Extract<RenderedForSending, { ok: true }>;

/** Inputs for the decision about the next attempt after a failure. */
type Settling = { readonly settings: DeliverySettings; readonly anotherAccount: boolean };

const settlingOf = ({ body }: Resource<'notification'>, { anotherAccount }: AccountFallback): Settling => ({
  settings: deliverySettings(body),
  anotherAccount,
});

async function call(
  sending: Delivery,
  hold: AccountHold,
  { message, missing, wrong }: Ready,
  settling: Settling,
  ports: AttemptPorts,
): Promise<AttemptReport> {
  const token = sending.token ?? '';
  // A process that stalled after it took the lease may resume when others have already moved the delivery to IN_DOUBT.
  if (ports.clock.now() >= (sending.leaseUntil ?? 0)) {
    const unsent = providerResult('transient', STOPPED, 'the lease ran out before the provider was called');
    return { kind: 'postponed', ...(await settle(sending, unsent, settling, ports)) };
  }
  const lease = holdLease(sending, token, LEASE, ports);
  const receiptToken = receiptTokenOf(sending, ports);
  const answer = await hold.sender
    .send(message, {
      workspace: sending.slot.workspace,
      deliveryId: sending.id,
      attemptToken: token,
      receiptToken,
      reportTo: reportAddress(publicUrlOf(ports.configuration.current()), hold.choice, receiptToken),
      traceparent: sending.intent.traceparent,
      notAfter: sending.notAfter,
      signal: ports.stopping,
    })
    .catch((error: unknown) => providerResult('ambiguous', '', `the adapter failed: ${messageOf(error)}`));
  await lease.stop();
  const result = withoutRepeatedWords(answer, message);
  const settled = await settle(sending, result, settling, ports);
  const wrongLocality = wrong.map(({ variable }) => variable);
  return { kind: 'called', ...settled, result, missing: missing.length, wrongLocality };
}

/** Returns the receipt token of the running attempt. */
function receiptTokenOf({ id: deliveryId, attempts }: Delivery, { ids }: AttemptPorts): string {
  const under = attempts.at(-1);
  if (!under) throw new TypeError(`delivery ${deliveryId} has no attempt`);
  return writeReceiptToken({ deliveryId, attempt: attempts.length, id: under.id }, (...parts) => ids.keyed(...parts));
}

/** Suppresses an address that the provider reported as unusable, with the reason. An existing entry stays as it is. */
async function suppressCondemned(sending: Delivery, result: ProviderResult, ports: AttemptPorts): Promise<void> {
  if (result.suppress === null || sending.intent.to === null) return;
  await ports.suppressions.add({
    workspace: sending.slot.workspace,
    channel: sending.slot.channel,
    address: sending.intent.to,
    source: result.suppress,
    detail: `${result.code} ${result.detail}`.trim(),
    deliveryId: sending.id,
    at: ports.clock.now(),
  });
}

const holds = ({ token, state }: Delivery, attemptToken: string): boolean =>
  token === attemptToken && (state === 'SENDING' || state === 'IN_DOUBT');

/**
 * Stores the provider's result and retries while the process lives, because giving up would leave a false doubt. While
 * the ledger fails, the sweeper may move the delivery to IN_DOUBT; a definite result still ends that.
 */
async function settle(
  sending: Delivery,
  result: ProviderResult,
  { settings, anotherAccount }: Settling,
  ports: AttemptPorts,
): Promise<Transition> {
  const token = sending.token ?? '';
  const settling = { token, result, settings, anotherAccount, chance: ports.ids.chance() };
  const refused = result.verdict !== 'accepted' && result.verdict !== 'ambiguous';
  // The document is usually unchanged, so the first try needs no read.
  let known: Delivery | null = sending;
  for (let wait = 50; ; wait = Math.min(wait * 2, 2000)) {
    try {
      const delivery: Delivery | null = known ?? (await ports.ledger.get(sending.id));
      known = null;
      if (!delivery) throw new Error(`delivery ${sending.id} does not exist any more`);
      if (delivery.attempts.some((each) => each.token === token && each.result !== null))
        return publish(delivery, ports);
      // Suppress the address before settling. After a crash between the two writes the sweeper still finds the
      // delivery; a settled delivery is never read again.
      await suppressCondemned(sending, result, ports);
      // After a stale write the delivery is read again and then has its result.
      const moved = await transitionAndPublish(settleAttempt(delivery, settling, moment(ports)), ports, {
        together: true,
      });
      if (!moved) continue;
      // Best effort, because the next message that needs the room also detects an unused reservation.
      if (refused && holds(delivery, token)) await giveBack(delivery, token, ports).catch(() => undefined);
      return moved;
    } catch (error) {
      if (ports.stopping.aborted && wait >= 2000) throw error;
      await ports.pause(wait);
    }
  }
}
