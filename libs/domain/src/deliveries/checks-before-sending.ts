import { formatInstant, type Instant } from '@carillon/kernel';
import { localTimeText } from '../cadence/local-time.ts';
import { quietUntil } from '../cadence/quiet-hours.ts';
import { quietRulesOf } from '../cadence/settings.ts';
import { canonicalAddress } from '../channels/channel.ts';
import { channelOf } from '../channels/configured.ts';
import { findResource, type Configuration, type Resource } from '../configuration/configuration.ts';
import { categoryOf, namesOfCategory } from '../consent/categories.ts';
import { optOutFor, type Consents, type ConsentWay, type ConsentEntry } from '../consent/consents.ts';
import { isCollectable } from '../digests/items.ts';
import { digestSettings } from '../digests/settings.ts';
import { ruleIdFrom } from '../configuration/rule-names.ts';
import { localityOf } from '../configuration/locality.ts';
import { invalidAddress } from './custody.ts';
import type { Delivery, DeliveryReason } from './delivery.ts';
import { findNotification } from './presend.ts';

/** Inputs of the checks before SENDING. The worker reads them from the stores for each attempt. */
export type BeforeSend = {
  readonly delivery: Delivery;
  /** The newest configuration, so that recent switches apply. */
  readonly newest: Configuration;
  readonly notification: Resource<'notification'> | undefined;
  /** Consent documents of the person and of the address. */
  readonly consents: readonly Pick<Consents, 'words'>[];
  /** Suppression of the address, or null. */
  readonly suppressed: { readonly source: string; readonly detail: string } | null;
  readonly now: Instant;
};

/**
 * Result of the checks before sending. `go`: send now. `wait`: check again later, without using an attempt. `collect`:
 * add to a digest of the notification. `end`: do not send.
 */
export type HoldVerdict =
  | { readonly kind: 'go' }
  | { readonly kind: 'collect'; readonly detail: string }
  | { readonly kind: 'wait'; readonly until: Instant; readonly reason: DeliveryReason; readonly detail: string }
  | {
      readonly kind: 'end';
      readonly state: 'SUPPRESSED' | 'EXPIRED';
      readonly reason: DeliveryReason;
      readonly detail: string;
    };

/** A check before a send. Pure; `BeforeSend` has all inputs. */
export type Hold = (before: BeforeSend) => HoldVerdict;

const GO: HoldVerdict = { kind: 'go' };
const end = (state: 'SUPPRESSED' | 'EXPIRED', reason: DeliveryReason, detail: string): HoldVerdict => ({
  kind: 'end',
  state,
  reason,
  detail,
});

/** Ends a message whose notification or rule was removed or switched off. */
export const withdrawal: Hold = ({ delivery: { intent, slot }, notification }) => {
  const gone = (what: string): HoldVerdict => end('SUPPRESSED', 'rule_withdrawn', what);
  if (!notification) return gone(`notification ${intent.notification} is no longer there`);
  if (notification.body.enabled === false) return gone(`notification ${intent.notification} is switched off`);
  if (intent.test) return GO;
  // A digest may have items of several rules and is sent while one of them is active.
  const ruleIds = new Set(intent.digest?.items.map(({ ruleId }) => ruleId) ?? [intent.ruleId]);
  const rules = Object.entries(notification.body.rules).filter(([name, body]) =>
    ruleIds.has(ruleIdFrom(slot.workspace, notification.ref.name, name, body)),
  );
  if (rules.length === 0) return gone(`rule ${intent.rule} is no longer there`);
  return rules.every(([, { enabled }]) => enabled === false) ? gone(`rule ${intent.rule} is switched off`) : GO;
};

const expiry: Hold = ({ delivery, now }) =>
  now > delivery.notAfter ? end('EXPIRED', 'not_after_passed', 'too late to be useful') : GO;

/** Intents of earlier versions may hold any text as an address. */
const address: Hold = ({ delivery: { intent, slot } }) =>
  canonicalAddress(slot.channel, intent.to ?? '') === null
    ? end('SUPPRESSED', 'invalid_address', invalidAddress(slot.channel))
    : GO;

/** Opt-outs do not apply to transactional notifications. */
const consent: Hold = ({ delivery: { slot }, newest, notification, consents }) => {
  if (!notification || notification.body.transactional === true) return GO;
  const { workspace, notificationId, channel } = slot;
  const { category } = notification.body;
  const categories = category === undefined ? [] : namesOfCategory(categoryOf(newest, workspace, category));
  const word = optOutFor(consents, { notificationId, categories, channel });
  return word === null ? GO : end('SUPPRESSED', 'opted_out', optOutWords(word));
};

const WAYS: Readonly<Record<ConsentWay, string>> = {
  one_click: 'with one click',
  page: 'on the page',
  api: 'over the API',
  import: 'by an import',
};

/** Returns scope, time and origin of an opt-out as text, without the person. */
export function optOutWords({ target, channel, way, at }: ConsentEntry): string {
  const what = target.kind === 'all' ? 'everything' : `the ${target.kind} ${target.name}`;
  const where = channel === null ? 'all channels' : channel;
  return `opted out of ${what} on ${where} ${WAYS[way]}, ${formatInstant(at)}`;
}

const suppression: Hold = ({ suppressed }) =>
  suppressed ? end('SUPPRESSED', 'suppressed_address', `${suppressed.source}: ${suppressed.detail}`) : GO;

/**
 * Holds a message during quiet hours. Evaluated with the newest configuration at every attempt, because a retry may
 * fall into quiet hours. A message that could only go after `not_after` ends at once, because waiting does not extend
 * `not_after`.
 */
export const quietHours: Hold = ({ delivery, newest, notification, now }) => {
  if (!notification) return GO;
  const { workspace, channel } = delivery.slot;
  const rules = quietRulesOf(notification.body, findResource(newest, 'workspace', workspace, '')?.body, channel);
  if (rules.hold.length + rules.drop.length === 0) return GO;
  const { timeZone } = localityOf(newest, workspace, delivery.intent.variables).locality;
  const words = (until: Instant): string => `quiet hours until ${localTimeText(timeZone, until)}`;
  const dropped = quietUntil(rules.drop, timeZone, now);
  if (dropped !== null) return end('SUPPRESSED', 'quiet_hours', words(dropped));
  const until = quietUntil(rules.hold, timeZone, now);
  if (until === null) return GO;
  if (until > delivery.notAfter) return end('SUPPRESSED', 'quiet_hours', `${words(until)}; then it is too late`);
  return { kind: 'wait', until, reason: 'held_by_quiet_hours', detail: `held by ${words(until)}` };
};

/**
 * Ends a message whose notification no longer uses the channel. A test message may use a channel before the
 * notification does.
 */
export const channelGone: Hold = ({ delivery: { slot, intent }, notification }) =>
  notification && (intent.test || channelOf(notification.body, slot.channel))
    ? GO
    : end('SUPPRESSED', 'cannot_send_on_channel', `the notification no longer has the channel ${slot.channel}`);

/** Digest items leave here, before the quiet hours: these apply to the digest. */
const digestWindow: Hold = ({ delivery, notification }) =>
  goesIntoDigest(delivery, notification) ? { kind: 'collect', detail: '' } : GO;

/** Returns true if a message goes into a digest of its notification regardless of limits. */
export function goesIntoDigest(delivery: Delivery, notification: Resource<'notification'> | undefined): boolean {
  return (
    notification?.body.cadence?.digest !== undefined &&
    digestSettings(notification.body)?.when === 'always' &&
    isCollectable(delivery)
  );
}

/**
 * All checks before each step into SENDING, in the order of docs/internals/checks-before-sending.md. The first verdict
 * other than `go` decides. All checks run at every attempt. Rendering follows, because it needs a worker. Frequency
 * limits come last, together with the step itself (`takeRoom`).
 */
export const HOLDS: readonly Hold[] = [
  withdrawal,
  expiry,
  address,
  consent,
  suppression,
  channelGone,
  digestWindow,
  quietHours,
];

/**
 * Checks that do not apply to test messages, which go to their requester immediately. Suppressed addresses stay
 * blocked.
 */
const NOT_OF_TESTS: ReadonlySet<Hold> = new Set([consent, digestWindow, quietHours]);

/** The first verdict that is not `go`, else `go` with the current notification. */
export type PresendVerdict =
  | { readonly kind: 'go'; readonly notification: Resource<'notification'> }
  | Exclude<HoldVerdict, { readonly kind: 'go' }>;

export function presend(known: Omit<BeforeSend, 'notification'>, holds: readonly Hold[] = HOLDS): PresendVerdict {
  const notification = findNotification(known.newest, known.delivery.slot);
  const before: BeforeSend = { ...known, notification };
  for (const hold of holds) {
    if (known.delivery.intent.test && NOT_OF_TESTS.has(hold)) continue;
    const verdict = hold(before);
    if (verdict.kind !== 'go') return verdict;
  }
  if (notification) return { kind: 'go', notification };
  return { kind: 'end', state: 'SUPPRESSED', reason: 'rule_withdrawn', detail: 'the notification is no longer there' };
}
