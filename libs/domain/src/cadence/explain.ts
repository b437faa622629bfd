import type { DeliveryId, Instant, TriggerId } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';
import { findResource, type Configuration, type Resource } from '../configuration/configuration.ts';
import { notificationIdOf } from '../configuration/streams.ts';
import { digestSettings } from '../digests/settings.ts';
import { limitBookOf, limitsMet, limitWords } from './limit-settings.ts';
import { countedBy, judgeLimits, type FrequencyLimit, type SentEntry } from './limits.ts';
import { quietUntil } from './quiet-hours.ts';
import { quietRulesOf } from './settings.ts';

/** What stands in the way of a message, or does not. */
export type ExplainedLimit = {
  readonly limit: string;
  readonly max: number;
  readonly then: FrequencyLimit['action'];
  /** Messages that count now, those among them that are being sent this moment. */
  readonly count: number;
  readonly underWay: number;
  readonly by: readonly DeliveryId[];
  /** When the oldest of them counts no more; null where there is room. */
  readonly roomFrom: Instant | null;
};

export type ExplainedCadence = {
  readonly channel: ChannelName;
  readonly zone: string;
  readonly transactional: boolean;
  /** What would become of a message that is due at this time. `collected`: it goes into a digest. `perhaps`: it depends on what is being sent this moment. */
  readonly verdict: 'sent' | 'held' | 'dropped' | 'collected' | 'perhaps';
  /** When it could go; null: now, or never. */
  readonly until: Instant | null;
  readonly quietHours: { readonly then: 'hold' | 'drop'; readonly until: Instant } | null;
  readonly limits: readonly ExplainedLimit[];
};

/** A message of nobody's: it is like none that was sent. */
const NEXT = '' as TriggerId;

/**
 * What quiet hours and limits would say of a message of this notification to a person at a time, by the functions that
 * delivery itself goes by. `entries`: what was sent to that person, with `sure` as far as it is known.
 */
export function explainCadence(
  configuration: Configuration,
  notification: Resource<'notification'>,
  channel: ChannelName,
  entries: readonly SentEntry[],
  zone: string,
  now: Instant,
): ExplainedCadence {
  const { workspace } = notification.ref;
  const transactional = notification.body.transactional === true;
  const rules = quietRulesOf(notification.body, findResource(configuration, 'workspace', workspace, '')?.body, channel);
  const [dropped, held] = [quietUntil(rules.drop, zone, now), quietUntil(rules.hold, zone, now)];
  const quietHours =
    dropped !== null
      ? ({ then: 'drop', until: dropped } as const)
      : held !== null
        ? ({ then: 'hold', until: held } as const)
        : null;
  const message = {
    triggerId: NEXT,
    notificationId: notificationIdOf(notification),
    category: notification.body.category ?? null,
    channel,
  };
  const met = limitsMet(limitBookOf(configuration, workspace), message);
  // Where it is held for the night, what counts is what counts when the night is over.
  const due = quietHours?.until ?? now;
  const verdict = judgeLimits(met, entries, message, zone, due);
  const limits = met.map((limit): ExplainedLimit => {
    const counted = countedBy(limit, entries, message, zone, now);
    const alone = judgeLimits([limit], entries, message, zone, now);
    return {
      limit: limitWords(limit),
      max: limit.max,
      then: limit.action,
      count: counted.ends.length,
      underWay: counted.entries.filter(({ sure }) => !sure).length,
      by: [...new Set(counted.entries.map(({ deliveryId }) => deliveryId))],
      roomFrom: alone.kind === 'full' ? alone.until : null,
    };
  });
  const common = { channel, zone, transactional, quietHours, limits };
  const digest = digestSettings(notification.body);
  // An item is not held for the night first: its digest is.
  if (digest?.when === 'always') return { ...common, verdict: 'collected', until: null };
  if (quietHours?.then === 'drop') return { ...common, verdict: 'dropped', until: null };
  if (verdict.kind === 'full' && verdict.limit.action === 'digest' && digest) {
    return quietHours
      ? { ...common, verdict: 'held', until: quietHours.until }
      : { ...common, verdict: 'collected', until: null };
  }
  if (verdict.kind === 'full') {
    return verdict.limit.action === 'drop'
      ? { ...common, verdict: 'dropped', until: null }
      : { ...common, verdict: 'held', until: verdict.until };
  }
  if (verdict.kind === 'look') return { ...common, verdict: 'perhaps', until: quietHours?.until ?? null };
  return quietHours
    ? { ...common, verdict: 'held', until: quietHours.until }
    : { ...common, verdict: 'sent', until: null };
}
