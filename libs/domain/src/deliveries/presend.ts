import type { Instant } from '@carillon/kernel';
import type { Configuration, Resource } from '../configuration/configuration.ts';
import { listResources } from '../configuration/configuration.ts';
import { notificationIdOf, ruleIdFrom } from '../configuration/streams.ts';
import { canonicalAddress } from '../channels/channel.ts';
import { invalidAddress } from './custody.ts';
import type { Delivery, DeliveryReason } from './delivery.ts';
import type { Slot } from './intent.ts';
import { moveTo, type Moment } from './moves.ts';

const byId = new WeakMap<Configuration, ReadonlyMap<string, Resource<'notification'>>>();

/**
 * The notification of a slot, under whatever name it has now. Ids are written in files, so another workspace may have
 * the same: a slot never finds that one.
 */
export function findNotification(
  configuration: Configuration,
  { workspace, notificationId }: Pick<Slot, 'workspace' | 'notificationId'>,
): Resource<'notification'> | undefined {
  let known = byId.get(configuration);
  if (!known) {
    known = new Map(
      listResources(configuration, 'notification').map((item) => [
        idKey(item.ref.workspace, notificationIdOf(item)),
        item,
      ]),
    );
    byId.set(configuration, known);
  }
  return known.get(idKey(workspace, notificationId));
}

const idKey = (workspace: string, id: string): string => `${workspace}\n${id}`;

export type PresendVerdict =
  | { readonly kind: 'go'; readonly notification: Resource<'notification'> }
  | {
      readonly kind: 'end';
      readonly state: 'SUPPRESSED' | 'EXPIRED';
      readonly reason: DeliveryReason;
      readonly detail: string;
    };

const end = (state: 'SUPPRESSED' | 'EXPIRED', reason: DeliveryReason, detail: string): PresendVerdict => ({
  kind: 'end',
  state,
  reason,
  detail,
});

/**
 * The checks before each step into SENDING, in the order of delivery.md section 2 (0, 1 and 3; the render is the
 * caller's, since it takes a worker). `newest` is the newest configuration; all are repeated at every attempt.
 */
export function presend(
  delivery: Delivery,
  newest: Configuration,
  suppressed: { readonly source: string; readonly detail: string } | null,
  now: Instant,
): PresendVerdict {
  const { intent, slot } = delivery;
  const notification = findNotification(newest, slot);
  if (!notification)
    return end('SUPPRESSED', 'rule_withdrawn', `notification ${intent.notification} is no longer there`);
  if (notification.body.enabled === false) {
    return end('SUPPRESSED', 'rule_withdrawn', `notification ${intent.notification} is switched off`);
  }
  const rule = Object.entries(notification.body.rules).find(
    ([name, body]) => ruleIdFrom(slot.workspace, notification.ref.name, name, body) === intent.ruleId,
  );
  if (!rule) return end('SUPPRESSED', 'rule_withdrawn', `rule ${intent.rule} is no longer there`);
  if (rule[1].enabled === false) return end('SUPPRESSED', 'rule_withdrawn', `rule ${intent.rule} is switched off`);
  if (now > delivery.notAfter) return end('EXPIRED', 'not_after_passed', 'too late to be of use');
  if (canonicalAddress(slot.channel, intent.to ?? '') === null) {
    return end('SUPPRESSED', 'invalid_address', invalidAddress(slot.channel));
  }
  if (suppressed) return end('SUPPRESSED', 'suppressed_address', `${suppressed.source}: ${suppressed.detail}`);
  if (!notification.body.channels[slot.channel as 'email']) {
    return end('SUPPRESSED', 'cannot_send_on_channel', `the notification no longer has the channel ${slot.channel}`);
  }
  return { kind: 'go', notification };
}

/** WAITING → an end without an attempt. Undefined if it is not waiting any more. */
export function endUnsent(
  before: Delivery,
  state: 'SUPPRESSED' | 'EXPIRED' | 'FAILED',
  reason: DeliveryReason,
  detail: string,
  moment: Moment,
): Delivery | undefined {
  if (before.state !== 'WAITING') return undefined;
  return moveTo(before, { state, reason, detail }, { nextAt: null }, moment);
}

/** WAITING → WAITING later, without an attempt: no account is free to take it. */
export function postpone(before: Delivery, until: Instant, detail: string, moment: Moment): Delivery | undefined {
  if (before.state !== 'WAITING') return undefined;
  const nextAt = Math.min(until, before.notAfter + 1);
  // Said once: an account that is down for hours must not fill story and log with the same line.
  if (before.reason === 'account_unavailable') {
    return { ...before, nextAt, tried: [], version: before.version + 1, updatedAt: moment.now };
  }
  return moveTo(before, { state: 'WAITING', reason: 'account_unavailable', detail }, { nextAt, tried: [] }, moment);
}
