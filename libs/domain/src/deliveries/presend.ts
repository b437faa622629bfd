import type { Instant } from '@carillon/kernel';
import type { Configuration, Resource } from '../configuration/configuration.ts';
import { listResources } from '../configuration/configuration.ts';
import { notificationIdOf } from '../configuration/streams.ts';
import type { Delivery, DeliveryReason } from './delivery.ts';
import type { Slot } from './intent.ts';
import { moveTo, type Moment } from './moves.ts';

const byId = new WeakMap<Configuration, ReadonlyMap<string, Resource<'notification'>>>();

/**
 * Returns the notification of a slot by its id, whatever its current name. Matches the workspace too, because ids come
 * from files and may be copied to another workspace.
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

/** Moves WAITING to an end state without an attempt. Undefined if it is no longer waiting. */
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

/** Keeps a delivery WAITING until later without an attempt, because no account is available. */
export function postpone(before: Delivery, until: Instant, detail: string, moment: Moment): Delivery | undefined {
  if (before.state !== 'WAITING') return undefined;
  const nextAt = Math.min(until, before.notAfter + 1);
  // Recorded once, so that an account that is down for hours does not fill history and log.
  if (before.reason === 'account_unavailable') {
    return { ...before, nextAt, tried: [], version: before.version + 1, updatedAt: moment.now };
  }
  return moveTo(before, { state: 'WAITING', reason: 'account_unavailable', detail }, { nextAt, tried: [] }, moment);
}

/** Keeps a delivery WAITING a moment longer, without a move or history entry. */
export function lookAgain(before: Delivery, at: Instant, now: Instant): Delivery | undefined {
  if (before.state !== 'WAITING') return undefined;
  return { ...before, nextAt: Math.min(at, before.notAfter + 1), version: before.version + 1, updatedAt: now };
}

/**
 * Keeps a delivery WAITING until a hold ends, without an attempt. Moves it to SUPPRESSED if that would be after
 * `not_after`, which a hold does not extend (docs/internals/delivery-states.md).
 */
export function holdBack(
  before: Delivery,
  { until, reason, detail }: { readonly until: Instant; readonly reason: DeliveryReason; readonly detail: string },
  moment: Moment,
): Delivery | undefined {
  if (before.state !== 'WAITING') return undefined;
  if (until > before.notAfter) {
    return moveTo(
      before,
      { state: 'SUPPRESSED', reason, detail: `${detail}; then it is too late` },
      { nextAt: null },
      moment,
    );
  }
  return moveTo(before, { state: 'WAITING', reason, detail }, { nextAt: until }, moment);
}
