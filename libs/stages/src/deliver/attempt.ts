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

/** An account that is free to take one message now; `release` is called once, after the call. */
export type AccountHold = {
  readonly choice: AccountChoice;
  readonly sender: ChannelSender;
  release(result: ProviderResult | null): void;
};

/** What becomes of a delivery beyond the account that is held for it, or without one. */
export type AccountFallback = {
  /** Where none is free: when one may be; null where there is none at all. */
  readonly retryAt: Instant | null;
  /** Why there is none at all, for people; left out: there are none of those that it names. */
  readonly noAccount?: string;
  /** Whether another account may take it at once. */
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
  /** Resolves after this long; for retries of the ledger and for the lease. */
  readonly pause: (span: Duration) => Promise<void>;
  /** Ends when the process is to stop. */
  readonly stopping: AbortSignal;
  /** What is checked before a send, in order; left out: all that there is. */
  readonly holds?: readonly Hold[];
  /** Collects deliveries of one head for their digest, and tells of it on the log; answers those that were. */
  readonly collect: (deliveries: readonly Delivery[], why: string) => Promise<readonly Delivery[]>;
};

/** What a message did without: names that the data did not have, and reserved variables that name nothing that exists. */
type Blanks = { readonly missing: number; readonly wrongLocality: readonly LocalityVariable[] };

/** What an attempt came to. `postponed`, `ended` and `stale` made no call. */
export type AttemptReport =
  | { readonly kind: 'stale' }
  /** It waits for its digest; the log knows. */
  | { readonly kind: 'collected' }
  | ({ readonly kind: 'ended' | 'postponed' } & Transition)
  | ({ readonly kind: 'called'; readonly result: ProviderResult } & Transition & Blanks);

/** No call was made. */
type Uncalled = Exclude<AttemptReport, { kind: 'called' }>;

const NO_SUCH_ACCOUNT = 'the notification names no account that exists';

/** Messages that fill a limit are being sent: after this it is known whether they count. */
const LOOK_AGAIN: Duration = 1000;

/**
 * Deliver, second half: one attempt over an account that the caller holds. The step into SENDING is durable before the
 * first byte goes out, and decided by compare-and-set, so that of any number of workers one calls the provider.
 * `hold` is null where no account is free: the delivery waits until `retryAt`, or fails where there is none at all.
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
    const words = 'no provider account can take it now';
    return write(postpone(delivery, fallback.retryAt, words, moment(ports)), 'postponed', ports);
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

/** What a hold says becomes of the delivery. */
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

/** What decides on the next attempt, after this one did not succeed. */
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
  // A process that was held still since it took the lease may wake when others call the delivery a doubt already.
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

/** The token of the attempt that is under way. */
function receiptTokenOf({ id: deliveryId, attempts }: Delivery, { ids }: AttemptPorts): string {
  const under = attempts.at(-1);
  if (!under) throw new TypeError(`delivery ${deliveryId} has no attempt`);
  return writeReceiptToken({ deliveryId, attempt: attempts.length, id: under.id }, (...parts) => ids.keyed(...parts));
}

/** An address that the provider condemns gets nothing from now on, for the reason that it gave. What is on the list already stays as it is. */
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

const holds = ({ token, state }: Delivery, held: string): boolean =>
  token === held && (state === 'SENDING' || state === 'IN_DOUBT');

/**
 * Writes down what the provider answered, as long as this process lives: giving up would leave a doubt where there is
 * none. While the ledger cannot be written, the sweeper may call it a doubt; a definite answer still ends that.
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
  // Mostly nobody has touched it since: then it need not be read again.
  let known: Delivery | null = sending;
  for (let wait = 50; ; wait = Math.min(wait * 2, 2000)) {
    try {
      const seen: Delivery | null = known ?? (await ports.ledger.get(sending.id));
      known = null;
      if (!seen) throw new Error(`delivery ${sending.id} is gone`);
      if (seen.attempts.some((one) => one.token === token && one.result !== null)) return publish(seen, ports);
      // First: nobody would look at a delivery again that has ended, and this process may end between the two.
      await suppressCondemned(sending, result, ports);
      // One that is called stale is looked at again, and then it has its result.
      const moved = await transitionAndPublish(settleAttempt(seen, settling, moment(ports)), ports, { together: true });
      if (!moved) continue;
      // Whoever needs the place finds it out without us too.
      if (refused && holds(seen, token)) await giveBack(seen, token, ports).catch(() => undefined);
      return moved;
    } catch (error) {
      if (ports.stopping.aborted && wait >= 2000) throw error;
      await ports.pause(wait);
    }
  }
}
