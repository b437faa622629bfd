import {
  CHANNEL_NAMES,
  channelOf,
  deliverySettings,
  leavesTimeToSend,
  quietRulesOf,
  wallMinute,
  type ChannelName,
  type NotificationBody,
  type QuietHoursBody,
  type WorkspaceBody,
} from '@carillon/domain';
import { formatDuration } from '@carillon/kernel';
import { isKind } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Check } from './surroundings.ts';

/** When people are told: what the shape cannot say of it. */
export const checkCadence: Check = (resource, around, report) => {
  if (isKind(resource, 'workspace')) {
    const hours = resource.body.cadence?.quiet_hours;
    if (hours && checkHours(hours, report)) checkWeek(NOTHING_ELSE, resource.body, CHANNEL_NAMES, report);
  }
  if (!isKind(resource, 'notification')) return;
  const { body } = resource;
  const workspace = around.workspace(resource.ref.workspace);
  const ofWorkspace = workspace?.cadence?.quiet_hours;
  if (ofWorkspace && body.transactional !== true)
    checkExpires(body, ofWorkspace, ' of the workspace', ['expires'], report);
  const hours = body.cadence?.quiet_hours;
  if (!hours || !checkHours(hours, report)) return;
  if (body.transactional === true) {
    const message = 'the notification is transactional, so its messages are sent in quiet hours too';
    report.warn(AT, { message, fix: 'remove transactional, or remove these hours' });
    return;
  }
  const channels = CHANNEL_NAMES.filter((channel) => channelOf(body, channel));
  checkWeek(body, workspace, channels, report);
  checkExpires(body, hours, '', AT, report);
};

const AT = ['cadence', 'quiet_hours'] as const;
const NOTHING_ELSE: NotificationBody = { channels: {}, rules: {} };

function checkHours({ from, to }: QuietHoursBody, report: Report): boolean {
  if (from !== to) return true;
  report.fault([...AT, 'to'], {
    message: `the hours begin and end at ${from}: that may mean always or never`,
    expected: 'another time than from',
    fix: 'write another time; to send nothing at all, write enabled: false',
  });
  return false;
}

function checkWeek(
  notification: NotificationBody,
  workspace: WorkspaceBody | undefined,
  channels: readonly ChannelName[],
  report: Report,
): void {
  const shut = channels.filter((channel) => {
    const { hold, drop } = quietRulesOf(notification, workspace, channel);
    return !leavesTimeToSend([...hold, ...drop]);
  });
  if (shut.length === 0) return;
  const together = notification === NOTHING_ELSE ? '' : ', together with those of the workspace,';
  report.fault(AT, {
    message: `these hours${together} leave no time of a week in which ${shut.join(' or ')} may be sent`,
    expected: 'quiet hours that end',
    fix: 'shorten them, or leave out days or channels',
  });
}

/** The length on the clock of the wall; a change of the clock makes it an hour shorter or longer. */
function checkExpires(
  body: NotificationBody,
  { from, to, then }: QuietHoursBody,
  whose: string,
  at: ValuePath,
  report: Report,
): void {
  const minutes = (wallMinute(to) - wallMinute(from) + 1440) % 1440;
  const { expires } = deliverySettings(body);
  if (then === 'drop' || expires >= minutes * 60_000) return;
  const length = formatDuration(minutes * 60_000);
  report.warn(at, {
    message: `messages expire after ${formatDuration(expires)}, and the quiet hours${whose} last ${length}: who would be told early in them is never told`,
    fix: `write expires: ${length} or longer, or then: drop in the quiet hours if that is meant`,
  });
}
