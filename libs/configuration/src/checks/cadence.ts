import { leavesTimeToSend, quietRulesOf, wallMinute } from '@carillon/domain/cadence';
import { CHANNEL_NAMES, channelOf, type ChannelName } from '@carillon/domain/channels';
import type { NotificationBody, QuietHoursBody, WorkspaceBody } from '@carillon/domain/configuration';
import { deliverySettings } from '@carillon/domain/deliveries';
import { formatDuration } from '@carillon/kernel';
import { isKind, type WantedResource } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Check } from './check-context.ts';

/** When people are told: what the shape cannot say of it. */
export const checkCadence: Check = (resource, around, report) => {
  if (isKind(resource, 'workspace')) {
    const hours = resource.body.cadence?.quiet_hours;
    if (hours && checkHours(hours, 'leave the hours out', report))
      checkWeek(NOTHING_ELSE, resource.body, CHANNEL_NAMES, report);
  }
  if (!isKind(resource, 'notification')) return;
  const { body } = resource;
  const workspace = around.workspace(resource.ref.workspace);
  const ofWorkspace = workspace?.cadence?.quiet_hours;
  if (ofWorkspace && body.transactional !== true)
    checkExpires(body, ofWorkspace, { words: ' of the workspace', notification: '' }, ['expires'], report);
  const hours = body.cadence?.quiet_hours;
  if (!hours || !checkHours(hours, 'to send nothing at all, write enabled: false', report)) return;
  if (body.transactional === true) {
    const message = 'the notification is transactional, so its messages are sent in quiet hours too';
    const fix = 'remove transactional, or remove these hours';
    report.warn(AT, { code: 'quiet_hours_ignored', facts: {}, message, fix });
    return;
  }
  const channels = CHANNEL_NAMES.filter((channel) => channelOf(body, channel));
  checkWeek(body, workspace, channels, report);
  checkExpires(body, hours, { words: '', notification: '' }, AT, report);
};

/**
 * The same for notifications that the folder does not name and that stay: what the workspace's hours become may leave
 * them no time. The workspace is at fault, since it is what the folder speaks of.
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
    const holder = `notification ${other.workspace}/${other.name}, which is not in the folder and stays`;
    const week = { words: `, together with those of ${holder},`, notification: other.name };
    checkWeek(notification, body, channels, report, week);
    const whose = { words: `, which count for ${holder},`, notification: other.name };
    checkExpires(notification, hours, whose, AT, report);
  }
}

/** Owner of the quiet hours, as text for the command line. `notification` is its name if it is not changed here, else empty. */
type Holder = { readonly words: string; readonly notification: string };

const AT = ['cadence', 'quiet_hours'] as const;
const NOTHING_ELSE: NotificationBody = { channels: {}, rules: {} };

function checkHours({ from, to }: QuietHoursBody, otherwise: string, report: Report): boolean {
  if (from !== to) return true;
  report.fault([...AT, 'to'], {
    code: 'quiet_hours_ambiguous',
    facts: { at: from },
    message: `the hours begin and end at ${from}: that may mean always or never`,
    expected: 'another time than from',
    fix: `write another time; ${otherwise}`,
  });
  return false;
}

function checkWeek(
  notification: NotificationBody,
  workspace: WorkspaceBody | undefined,
  channels: readonly ChannelName[],
  report: Report,
  together: Holder = {
    words: notification === NOTHING_ELSE ? '' : ', together with those of the workspace,',
    notification: '',
  },
): void {
  const shut = channels.filter((channel) => {
    const { hold, drop } = quietRulesOf(notification, workspace, channel);
    return !leavesTimeToSend([...hold, ...drop]);
  });
  if (shut.length === 0) return;
  report.fault(AT, {
    code: 'quiet_hours_endless',
    facts: { channels: shut.join(', '), notification: together.notification },
    message: `these hours${together.words} leave no time of a week in which ${shut.join(' or ')} may be sent`,
    expected: 'quiet hours that end',
    fix: 'shorten them, or leave out days or channels',
  });
}

/** The length on the clock of the wall; a change of the clock makes it an hour shorter or longer. */
function checkExpires(
  body: NotificationBody,
  { from, to, then }: QuietHoursBody,
  whose: Holder,
  at: ValuePath,
  report: Report,
): void {
  const minutes = (wallMinute(to) - wallMinute(from) + 1440) % 1440;
  const { expires } = deliverySettings(body);
  if (then === 'drop' || expires >= minutes * 60_000) return;
  const length = formatDuration(minutes * 60_000);
  report.warn(at, {
    code: 'quiet_hours_outlast_expiry',
    facts: { expires: formatDuration(expires), length, notification: whose.notification },
    message: `messages expire after ${formatDuration(expires)}, and the quiet hours${whose.words} last ${length}: who would be told early in them is never told`,
    fix: `write expires: ${length} or longer, or then: drop in the quiet hours if that is meant`,
  });
}
