import type { DeliveryId, Duration, Instant, TriggerId } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';
import { calendarWindow, type CalendarPeriod } from './local-time.ts';

/**
 * Messages that a limit counts: all of a person, unless notification or category narrows them. A message without a
 * category belongs to none.
 */
export type Counted = {
  readonly notificationId: string | null;
  readonly category: string | null;
  readonly channels: ReadonlySet<ChannelName> | null;
};

/** At most `max` messages to one person within a window: rolling, or a period of the person's calendar. */
export type FrequencyLimit = {
  readonly counted: Counted;
  readonly max: number;
  readonly per: { readonly rolling: Duration } | { readonly calendar: CalendarPeriod };
  readonly action: 'drop' | 'hold' | 'digest';
};

/** The fields of a message that limits read. */
export type Countable = {
  readonly triggerId: TriggerId;
  readonly notificationId: string;
  readonly category: string | null;
  readonly channel: ChannelName;
};

/** A message that was sent or is about to be: taken before the step into SENDING, under the token of that attempt. */
export type SentEntry = Countable & {
  readonly deliveryId: DeliveryId;
  readonly token: string;
  /** The time of the attempt. */
  readonly at: Instant;
  /** True: its delivery was seen accepted, so it counts for good. */
  readonly sure: boolean;
};

export type LimitVerdict =
  | { readonly kind: 'room' }
  /** Entries that may belong to messages that were never sent: who they are decides, so look at their deliveries. */
  | { readonly kind: 'look'; readonly entries: readonly SentEntry[] }
  | {
      readonly kind: 'full';
      readonly limit: FrequencyLimit;
      /** The earliest time at which all limits have room, if nothing else is sent. */
      readonly until: Instant;
      /** What fills it, oldest first. */
      readonly by: readonly SentEntry[];
    };

/** Whether a message is one of those that a limit counts. */
export const counts = ({ notificationId, category, channels }: Counted, message: Countable): boolean =>
  (notificationId === null || notificationId === message.notificationId) &&
  (category === null || category === message.category) &&
  (channels === null || channels.has(message.channel));

/** Several devices of one trigger count as one message (docs/internals/frequency-limits.md). */
const groupOf = ({ triggerId, channel }: Countable): string => `${channel} ${triggerId}`;

/** When an entry stops counting. Entries later than the reader's clock count until then too. */
function endsCounting({ per }: FrequencyLimit, zone: string, at: Instant): Instant {
  return 'rolling' in per ? at + per.rolling : calendarWindow(zone, at, per.calendar).to;
}

/** When each counted message stops counting, soonest first; a message counts as long as its newest entry does. */
export function countedBy(
  limit: FrequencyLimit,
  entries: readonly SentEntry[],
  message: Countable,
  zone: string,
  now: Instant,
): { readonly entries: readonly SentEntry[]; readonly ends: readonly Instant[] } {
  const counted = entries.filter(
    (entry) =>
      counts(limit.counted, entry) && groupOf(entry) !== groupOf(message) && endsCounting(limit, zone, entry.at) > now,
  );
  const ends = new Map<string, Instant>();
  for (const entry of counted) {
    const group = groupOf(entry);
    ends.set(group, Math.max(ends.get(group) ?? now, endsCounting(limit, zone, entry.at)));
  }
  return { entries: counted, ends: [...ends.values()].toSorted((a, b) => a - b) };
}

/** Which of several full limits speaks: who is to get nothing is not held first. */
const ORDER = ['drop', 'digest', 'hold'] as const;

/**
 * Whether a message may be sent now under all these limits. A pure function of what was sent, so that any number of
 * limits is decided on one document, and a limit that was changed goes on counting. A limit is full only by entries that
 * are sure; where others are needed to fill it, `look` names them.
 */
export function decideLimits(
  limits: readonly FrequencyLimit[],
  entries: readonly SentEntry[],
  message: Countable,
  zone: string,
  now: Instant,
): LimitVerdict {
  const full: { limit: FrequencyLimit; until: Instant; by: readonly SentEntry[] }[] = [];
  const unsure = new Set<SentEntry>();
  for (const limit of limits) {
    if (!counts(limit.counted, message)) continue;
    const all = countedBy(limit, entries, message, zone, now);
    if (all.ends.length < limit.max) continue;
    const sure = countedBy(
      limit,
      entries.filter((entry) => entry.sure),
      message,
      zone,
      now,
    );
    if (sure.ends.length < limit.max) {
      for (const entry of all.entries) if (!entry.sure) unsure.add(entry);
      continue;
    }
    const until = sure.ends[sure.ends.length - limit.max] ?? now;
    full.push({ limit, until, by: sure.entries.toSorted((a, b) => a.at - b.at) });
  }
  const [first] = full.toSorted((a, b) => ORDER.indexOf(a.limit.action) - ORDER.indexOf(b.limit.action));
  if (first) return { kind: 'full', ...first, until: Math.max(...full.map((one) => one.until)) };
  return unsure.size > 0 ? { kind: 'look', entries: [...unsure] } : { kind: 'room' };
}

/** Zones are at most 26 hours apart, and an entry may be read next for a message that has another. */
const ZONES_APART: Duration = 26 * 3_600_000;
/** Clocks of machines that are further apart are reported. */
const CLOCKS_APART: Duration = 10_000;

/**
 * Returns until when any limit may count an entry, in whatever time zone. Null if no limit applies to it. Another zone may
 * already show the next calendar period at the entry's time, and end that period later.
 */
export function countedUntil(limits: readonly FrequencyLimit[], entry: SentEntry, zone: string): Instant | null {
  const ends = limits
    .filter(({ counted }) => counts(counted, entry))
    .map((limit) => {
      const apart = 'rolling' in limit.per ? 0 : ZONES_APART;
      return endsCounting(limit, zone, entry.at + apart) + apart + CLOCKS_APART;
    });
  return ends.length === 0 ? null : Math.max(...ends);
}
