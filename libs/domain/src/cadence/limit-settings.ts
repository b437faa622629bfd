import type { CALENDAR_PERIODS } from '@carillon/shapes/values';
import { durationOr, formatDuration, type Duration } from '@carillon/kernel';
import { findResource, listResources, type Configuration } from '../configuration/configuration.ts';
import type {
  NotificationBody,
  NotificationLimitBody,
  WorkspaceBody,
  WorkspaceLimitBody,
} from '../configuration/resources.ts';
import { notificationIdOf } from '../configuration/streams.ts';
import { counts, type Countable, type FrequencyLimit } from './limits.ts';

const CALENDAR = 'calendar ';

const readWindow = (per: string): FrequencyLimit['per'] =>
  per.startsWith(CALENDAR)
    ? { calendar: per.slice(CALENDAR.length) as (typeof CALENDAR_PERIODS)[number] }
    : { rolling: durationOr(per, 0) };

/** A limit as a file of a notification has it: it counts that notification's own messages. */
export const notificationLimit = (
  { max, per, then, channels }: NotificationLimitBody,
  notificationId: string,
): FrequencyLimit => ({
  counted: { notificationId, category: null, channels: channels ? new Set(channels) : null },
  max,
  per: readWindow(per),
  action: then,
});

/** A limit as `workspace.yaml` has it: it counts the messages of all notifications that are not transactional. */
export const workspaceLimit = ({ max, per, then, category, channel }: WorkspaceLimitBody): FrequencyLimit => ({
  counted: {
    notificationId: null,
    category: category ?? null,
    channels: channel === undefined ? null : new Set([channel]),
  },
  max,
  per: readWindow(per),
  action: then,
});

const DAY: Duration = 86_400_000;
/** With the hour that a change of the clock may add. */
const LONGEST_PERIOD = { day: DAY, week: 7 * DAY, month: 31 * DAY } as const;

/** How long a message counts at most. */
export const periodLength = ({ per }: FrequencyLimit): Duration =>
  'rolling' in per ? per.rolling : LONGEST_PERIOD[per.calendar];

/** A limit for people: `at most 3 messages in 1d of this notification`. */
export function limitWords({ max, per, counted }: FrequencyLimit): string {
  const when = 'rolling' in per ? `in ${formatDuration(per.rolling)}` : `a calendar ${per.calendar}`;
  const whose = [
    ...(counted.notificationId === null ? [] : ['of this notification']),
    ...(counted.category === null ? [] : [`of the category ${counted.category}`]),
    ...(counted.channels === null ? [] : [`on ${[...counted.channels].join(' or ')}`]),
  ];
  return [`at most ${max} message${max === 1 ? '' : 's'} ${when}`, ...whose].join(' ');
}

/** All limits of a workspace by what they count. Of a transactional notification there are none. */
export type LimitIndex = {
  /** Returns the limits that may count a message of this notification: its own and the workspace's. */
  readonly of: (notificationId: string) => readonly FrequencyLimit[];
};

const indexes = new WeakMap<Configuration, Map<string, LimitIndex>>();

/** The limits of the newest configuration, read once for each. */
export function limitIndexOf(configuration: Configuration, workspace: string): LimitIndex {
  const known = indexes.get(configuration) ?? new Map<string, LimitIndex>();
  indexes.set(configuration, known);
  const index = known.get(workspace) ?? indexLimits(configuration, workspace);
  known.set(workspace, index);
  return index;
}

function indexLimits(configuration: Configuration, workspace: string): LimitIndex {
  const common = limitsOfWorkspace(findResource(configuration, 'workspace', workspace, '')?.body);
  const own = new Map<string, readonly FrequencyLimit[]>();
  for (const resource of listResources(configuration, 'notification')) {
    if (resource.ref.workspace !== workspace) continue;
    const id = notificationIdOf(resource);
    own.set(id, resource.body.transactional === true ? [] : [...limitsOfNotification(resource.body, id), ...common]);
  }
  // Messages of a removed notification still count under the limits of the workspace.
  return { of: (notificationId) => own.get(notificationId) ?? common };
}

const limitsOfWorkspace = (workspace: WorkspaceBody | undefined): readonly FrequencyLimit[] =>
  (workspace?.cadence?.limits ?? []).map(workspaceLimit);
const limitsOfNotification = ({ cadence }: NotificationBody, id: string): readonly FrequencyLimit[] =>
  (cadence?.limits ?? []).map((limit) => notificationLimit(limit, id));

/** The limits that a message meets, which are those that count it. */
export const limitsMet = (index: LimitIndex, message: Countable): readonly FrequencyLimit[] =>
  index.of(message.notificationId).filter(({ counted }) => counts(counted, message));
