import {
  limitWords,
  notificationLimit,
  periodLength,
  workspaceLimit,
  type FrequencyLimit,
} from '@carillon/domain/cadence';
import { CHANNEL_NAMES, channelOf } from '@carillon/domain/channels';
import type { NotificationBody, WorkspaceBody } from '@carillon/domain/configuration';
import { deliverySettings } from '@carillon/domain/deliveries';
import { formatDuration } from '@carillon/kernel';
import { isKind, type WantedResource } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Check } from './check-context.ts';

/** How many messages a person gets at most: what the shape cannot say of it. */
export const checkLimits: Check = (resource, around, report) => {
  if (!isKind(resource, 'notification')) return;
  const { body } = resource;
  const limits = body.cadence?.limits ?? [];
  if (body.transactional === true) {
    if (limits.length === 0) return;
    report.warn(AT, { code: 'limit_ignored', facts: {} });
    return;
  }
  for (const [index, limit] of limits.entries()) {
    const at = [...AT, index, 'then'];
    if (limit.then === 'digest' && !hasDigest(body)) refuseDigest(at, report);
    else checkExpires(body, notificationLimit(limit, ''), '', at, report);
  }
  checkLimitsOfWorkspace(body, around.workspace(resource.ref.workspace), '', ['expires'], report);
};

/**
 * Checks notifications outside the folder against changed limits of the workspace. Mistakes are reported at the
 * workspace, because the folder contains it.
 */
export function checkStayingLimits(
  { ref, body }: WantedResource<'workspace'>,
  staying: readonly WantedResource<'notification'>[],
  report: Report,
): void {
  for (const { ref: other, body: notification } of staying) {
    if (other.workspace !== ref.workspace || notification.transactional === true) continue;
    checkLimitsOfWorkspace(notification, body, other.name, AT, report);
  }
}

const AT = ['cadence', 'limits'] as const;

const hasDigest = ({ cadence }: NotificationBody): boolean => cadence !== undefined && 'digest' in cadence;

const refuseDigest = (at: ValuePath, report: Report): void =>
  report.fault(at, { code: 'limit_without_digest', facts: {} });

/** `staying`: name of the notification if it is not changed here, else empty. */
function checkLimitsOfWorkspace(
  body: NotificationBody,
  workspace: WorkspaceBody | undefined,
  staying: string,
  at: ValuePath,
  report: Report,
): void {
  const channels = CHANNEL_NAMES.filter((name) => channelOf(body, name));
  for (const written of workspace?.cadence?.limits ?? []) {
    const limit = workspaceLimit(written);
    const { category, channels: counted } = limit.counted;
    if (category !== null && category !== body.category) continue;
    if (counted !== null && !channels.some((name) => counted.has(name))) continue;
    if (limit.action === 'digest' && hasDigest(body)) continue;
    checkExpires(body, limit, staying, at, report);
  }
}

/** Warns if messages may expire while a limit holds them, because the period of the limit is longer than the expiry. */
function checkExpires(
  body: NotificationBody,
  limit: FrequencyLimit,
  staying: string,
  at: ValuePath,
  report: Report,
): void {
  const longest = periodLength(limit);
  const { expires } = deliverySettings(body);
  if (limit.action === 'drop' || expires >= longest) return;
  const lasts = { expires: formatDuration(expires), length: formatDuration(longest) };
  const facts = { limit: limitWords(limit), ...lasts, notification: staying };
  report.warn(at, { code: 'limit_outlasts_expiry', facts });
}
