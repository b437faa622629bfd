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
    const message = 'the notification is transactional, so its messages are sent whatever these limits say';
    const fix = 'remove transactional, or remove these limits';
    report.warn(AT, { code: 'limit_ignored', facts: {}, message, fix });
    return;
  }
  for (const [index, limit] of limits.entries()) {
    const at = [...AT, index, 'then'];
    if (limit.then === 'digest' && !hasDigest(body)) refuseDigest(at, report);
    else checkExpires(body, notificationLimit(limit, ''), { words: '', notification: '' }, at, report);
  }
  const own = { words: '', notification: '' };
  checkLimitsOfWorkspace(body, around.workspace(resource.ref.workspace), own, ['expires'], report);
};

/** The same for notifications that the folder does not name and that stay; the workspace is what the folder speaks of. */
export function checkStayingLimits(
  { ref, body }: WantedResource<'workspace'>,
  staying: readonly WantedResource<'notification'>[],
  report: Report,
): void {
  for (const { ref: other, body: notification } of staying) {
    if (other.workspace !== ref.workspace || notification.transactional === true) continue;
    const words = `, which counts for notification ${other.workspace}/${other.name},`;
    const holder = { words, notification: other.name };
    checkLimitsOfWorkspace(notification, body, holder, AT, report);
  }
}

/** For whom a limit counts, in words for the command line; `notification` is the one that stays, else empty. */
type Holder = { readonly words: string; readonly notification: string };

const AT = ['cadence', 'limits'] as const;

const hasDigest = ({ cadence }: NotificationBody): boolean => cadence !== undefined && 'digest' in cadence;

const refuseDigest = (at: ValuePath, report: Report): void =>
  report.fault(at, {
    code: 'limit_without_digest',
    facts: {},
    message: 'the notification has no digest that could take what is over the limit',
    expected: 'drop, hold, or digest together with cadence.digest',
    fix: 'write then: hold, or give the notification a digest',
  });

function checkLimitsOfWorkspace(
  body: NotificationBody,
  workspace: WorkspaceBody | undefined,
  holder: Holder,
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
    const words = ` of the workspace${holder.words}`;
    checkExpires(body, limit, { ...holder, words }, at, report);
  }
}

/** What is held may have to wait for as long as the limit lasts. */
function checkExpires(
  body: NotificationBody,
  limit: FrequencyLimit,
  whose: Holder,
  at: ValuePath,
  report: Report,
): void {
  const longest = periodLength(limit);
  const { expires } = deliverySettings(body);
  if (limit.action === 'drop' || expires >= longest) return;
  const length = formatDuration(longest);
  report.warn(at, {
    code: 'limit_outlasts_expiry',
    facts: { limit: limitWords(limit), expires: formatDuration(expires), length, notification: whose.notification },
    message: `messages expire after ${formatDuration(expires)}, and the limit${whose.words} of ${limitWords(limit)} holds some for up to ${length}: those are never sent`,
    fix: `write expires: ${length} or longer, or then: drop in the limit if that is meant`,
  });
}
