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

/** What is known before a step into SENDING; whoever attempts reads it from the stores, anew each time. */
export type BeforeSend = {
  readonly delivery: Delivery;
  /** The newest configuration: what a person switched off since counts. */
  readonly newest: Configuration;
  readonly notification: Resource<'notification'> | undefined;
  /** What is known of the person and of the address, as documents of consent. */
  readonly consents: readonly Pick<Consents, 'words'>[];
  /** Why the address gets nothing; null where it may. */
  readonly suppressed: { readonly source: string; readonly detail: string } | null;
  readonly now: Instant;
};

/**
 * What one check says. `wait` uses up no attempt. `collect`: it is told together with others, in a digest of its
 * notification.
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

/** A check before a send: pure. What it has to know stands in `BeforeSend`. */
export type Hold = (before: BeforeSend) => HoldVerdict;

const GO: HoldVerdict = { kind: 'go' };
const end = (state: 'SUPPRESSED' | 'EXPIRED', reason: DeliveryReason, detail: string): HoldVerdict => ({
  kind: 'end',
  state,
  reason,
  detail,
});

/** The notification and the rule are still there and switched on. */
export const withdrawal: Hold = ({ delivery: { intent, slot }, notification }) => {
  const gone = (what: string): HoldVerdict => end('SUPPRESSED', 'rule_withdrawn', what);
  if (!notification) return gone(`notification ${intent.notification} is no longer there`);
  if (notification.body.enabled === false) return gone(`notification ${intent.notification} is switched off`);
  if (intent.test) return GO;
  // A digest may have items of several rules: it is sent as long as one of them is.
  const ruleIds = new Set(intent.digest?.items.map(({ ruleId }) => ruleId) ?? [intent.ruleId]);
  const rules = Object.entries(notification.body.rules).filter(([name, body]) =>
    ruleIds.has(ruleIdFrom(slot.workspace, notification.ref.name, name, body)),
  );
  if (rules.length === 0) return gone(`rule ${intent.rule} is no longer there`);
  return rules.every(([, { enabled }]) => enabled === false) ? gone(`rule ${intent.rule} is switched off`) : GO;
};

const expiry: Hold = ({ delivery, now }) =>
  now > delivery.notAfter ? end('EXPIRED', 'not_after_passed', 'too late to be of use') : GO;

/** Intents of earlier versions carry any text. */
const address: Hold = ({ delivery: { intent, slot } }) =>
  canonicalAddress(slot.channel, intent.to ?? '') === null
    ? end('SUPPRESSED', 'invalid_address', invalidAddress(slot.channel))
    : GO;

/** What somebody has to be told (`transactional`) is told whatever they opted out of. */
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

/** What somebody wants no more, since when and how, for people; without who it is. */
export function optOutWords({ target, channel, way, at }: ConsentEntry): string {
  const what = target.kind === 'all' ? 'everything' : `the ${target.kind} ${target.name}`;
  const where = channel === null ? 'all channels' : channel;
  return `opted out of ${what} on ${where} ${WAYS[way]}, ${formatInstant(at)}`;
}

const suppression: Hold = ({ suppressed }) =>
  suppressed ? end('SUPPRESSED', 'suppressed_address', `${suppressed.source}: ${suppressed.detail}`) : GO;

/**
 * Nobody is told at night. The newest configuration counts, at every attempt: a retry may fall into quiet hours. What
 * could go only when it is too late ends at once, since waiting moves no `not_after`.
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

/** The notification still goes out on the channel. A test message may try a channel before the notification has it. */
export const channelGone: Hold = ({ delivery: { slot, intent }, notification }) =>
  notification && (intent.test || channelOf(notification.body, slot.channel))
    ? GO
    : end('SUPPRESSED', 'cannot_send_on_channel', `the notification no longer has the channel ${slot.channel}`);

/** An item leaves here: quiet hours meet its digest, and not each item first. */
const digestWindow: Hold = ({ delivery, notification }) =>
  goesIntoDigest(delivery, notification) ? { kind: 'collect', detail: '' } : GO;

/** Whether a message waits for a digest of its notification, whatever limits say. */
export function goesIntoDigest(delivery: Delivery, notification: Resource<'notification'> | undefined): boolean {
  return (
    notification?.body.cadence?.digest !== undefined &&
    digestSettings(notification.body)?.when === 'always' &&
    isCollectable(delivery)
  );
}

/**
 * All checks before each step into SENDING, in the order of docs/internals/checks-before-sending.md; the first that does not say `go`
 * decides, and gives its reason. All are repeated at every attempt. Rendering comes after them, since it takes a worker;
 * what counts messages comes after that: limits of frequency are taken with the step itself (`takeRoom`).
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
 * A test message goes to whoever asked to see it, at once: nobody's wishes and hours hold it back. A suppressed address
 * does, as it does for everybody.
 */
const NOT_OF_TESTS: ReadonlySet<Hold> = new Set([consent, digestWindow, quietHours]);

/** The first word of the list that is not `go`, else `go` with the notification as it is now. */
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
