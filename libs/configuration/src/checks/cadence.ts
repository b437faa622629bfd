import { leavesTimeToSend, quietRulesOf, wallMinute } from '@carillon/domain/cadence';
import { CHANNEL_NAMES, channelOf, type ChannelName } from '@carillon/domain/channels';
import type { NotificationBody, QuietHoursBody, WorkspaceBody } from '@carillon/domain/configuration';
import { deliverySettings } from '@carillon/domain/deliveries';
import { formatDuration } from '@carillon/kernel';
import { isKind, type WantedResource } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Check } from './check-context.ts';

/** Checks cadence settings for mistakes that the shape cannot express. */
export const checkCadence: Check = (resource, around, report) => {
  if (isKind(resource, 'workspace')) {
    const hours = resource.body.cadence?.quiet_hours;
    if (hours && checkHours(hours, report)) checkWeek(NOTHING_ELSE, resource.body, CHANNEL_NAMES, '', report);
  }
  if (!isKind(resource, 'notification')) return;
  const { body } = resource;
  const workspace = around.workspace(resource.ref.workspace);
  const ofWorkspace = workspace?.cadence?.quiet_hours;
  if (ofWorkspace && body.transactional !== true) checkExpires(body, ofWorkspace, '', ['expires'], report);
  const hours = body.cadence?.quiet_hours;
  if (!hours || !checkHours(hours, report)) return;
  if (body.transactional === true) {
    report.warn(AT, { code: 'quiet_hours_ignored', facts: {} });
    return;
  }
  const channels = CHANNEL_NAMES.filter((channel) => channelOf(body, channel));
  checkWeek(body, workspace, channels, '', report);
  checkExpires(body, hours, '', AT, report);
};

/**
 * Checks notifications outside the folder against changed quiet hours of the workspace, which may leave them no time to
 * send. The mistake is reported at the workspace, because the folder contains it.
 */
export function checkStayingCadence(
  { ref, body }: WantedResource<'workspace'>,
  staying: readonly WantedResource<'notification'>[],
  report: Report,
): void {
  const hours = body.cadence?.quiet_hours;
  if (!hours) return;
  for (const { ref: other, body: notification } of staying) {
    if (other.workspace !== ref.workspace || notification.transactional === true) continue;
    const channels = CHANNEL_NAMES.filter((channel) => channelOf(notification, channel));
    checkWeek(notification, body, channels, other.name, report);
    checkExpires(notification, hours, other.name, AT, report);
  }
}

const AT = ['cadence', 'quiet_hours'] as const;
const NOTHING_ELSE: NotificationBody = { channels: {}, rules: {} };

function checkHours({ from, to }: QuietHoursBody, report: Report): boolean {
  if (from !== to) return true;
  report.fault([...AT, 'to'], { code: 'quiet_hours_ambiguous', facts: { at: from } });
  return false;
}

/** `staying`: name of the notification if it is not changed here, else empty. */
function checkWeek(
  notification: NotificationBody,
  workspace: WorkspaceBody | undefined,
  channels: readonly ChannelName[],
  staying: string,
  report: Report,
): void {
  const shut = channels.filter((channel) => {
    const { hold, drop } = quietRulesOf(notification, workspace, channel);
    return !leavesTimeToSend([...hold, ...drop]);
  });
  if (shut.length === 0) return;
  report.fault(AT, {
    code: 'quiet_hours_endless',
    facts: { channels: shut.join(', '), notification: staying },
  });
}

/** The length on the clock of the wall; a change of the clock makes it an hour shorter or longer. */
function checkExpires(
  body: NotificationBody,
  { from, to, then }: QuietHoursBody,
  staying: string,
  at: ValuePath,
  report: Report,
): void {
  const minutes = (wallMinute(to) - wallMinute(from) + 1440) % 1440;
  const { expires } = deliverySettings(body);
  if (then === 'drop' || expires >= minutes * 60_000) return;
  const length = formatDuration(minutes * 60_000);
  report.warn(at, {
    code: 'quiet_hours_outlast_expiry',
    facts: { expires: formatDuration(expires), length, notification: staying },
  });
}
