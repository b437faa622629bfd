import type { Instant } from '@carillon/kernel';
import type { Configuration, Resource } from '../configuration/configuration.ts';
import { listResources } from '../configuration/configuration.ts';
import { notificationIdOf } from '../configuration/streams.ts';
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

/** WAITING → WAITING a moment later: no move, and no line in its story. */
export function lookAgain(before: Delivery, at: Instant, now: Instant): Delivery | undefined {
  if (before.state !== 'WAITING') return undefined;
  return { ...before, nextAt: Math.min(at, before.notAfter + 1), version: before.version + 1, updatedAt: now };
}

/**
 * WAITING → WAITING until a hold lets it go, without an attempt; or SUPPRESSED at once where that would be too late
 * (docs/internals/delivery-states.md): a hold does not move `not_after`.
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
