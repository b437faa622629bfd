import { DEFAULTS, WEEKDAYS } from '@carillon/shapes/values';
import type { ChannelName } from '../channels/channel.ts';
import type { NotificationBody, QuietHoursBody, WorkspaceBody } from '../configuration/resources.ts';
import type { WallMinute, Weekday } from './local-time.ts';
import type { QuietHours } from './quiet-hours.ts';

/** Minutes since midnight of a time as files have it: `"21:00"`. */
export const wallMinute = (text: string): WallMinute => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

const WEEK = WEEKDAYS.map((_, index) => (index + 1) as Weekday);

const readHours = ({ from, to, days }: QuietHoursBody): QuietHours => ({
  from: wallMinute(from),
  to: wallMinute(to),
  days: new Set(days?.map((day) => (WEEKDAYS.indexOf(day) + 1) as Weekday) ?? WEEK),
});

/** Quiet hours that count for a message, apart by what they do with it. */
export type QuietRules = { readonly hold: readonly QuietHours[]; readonly drop: readonly QuietHours[] };

/** Returns the quiet hours of notification and workspace for a channel. Empty for a transactional notification. */
export function quietRulesOf(
  notification: NotificationBody,
  workspace: WorkspaceBody | undefined,
  channel: ChannelName,
): QuietRules {
  const written = [notification.cadence?.quiet_hours, workspace?.cadence?.quiet_hours].flatMap((hours) =>
    hours && notification.transactional !== true && (hours.channels?.includes(channel) ?? true) ? [hours] : [],
  );
  const those = (action: 'hold' | 'drop'): readonly QuietHours[] =>
    written.filter(({ then }) => (then ?? DEFAULTS.quiet_hours.then) === action).map(readHours);
  return { hold: those('hold'), drop: those('drop') };
}
