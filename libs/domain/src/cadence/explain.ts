import type { DeliveryId, Instant, TriggerId } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';
import { findResource, type Configuration, type Resource } from '../configuration/configuration.ts';
import { notificationIdOf } from '../configuration/streams.ts';
import type { DeliveryReason } from '../deliveries/delivery.ts';
import { deliverySettings } from '../deliveries/settings.ts';
import { digestSettings } from '../digests/settings.ts';
import { limitIndexOf, limitsMet, limitWords } from './limit-settings.ts';
import { cappedVerdict } from './limit-verdict.ts';
import { countedBy, decideLimits, type Countable, type FrequencyLimit, type SentEntry } from './limits.ts';
import { quietUntil } from './quiet-hours.ts';
import { quietRulesOf, type QuietRules } from './settings.ts';

/** A limit with its current count and verdict for a message. */
export type ExplainedLimit = {
  readonly limit: string;
  readonly max: number;
  readonly then: FrequencyLimit['action'];
  /** Messages that count now, those among them that are being sent this moment. */
  readonly count: number;
  readonly underWay: number;
  readonly by: readonly DeliveryId[];
  /** When the oldest counted message stops counting. Null if there is room. */
  readonly roomFrom: Instant | null;
};

/** Predicted verdict for a message that is due at a time. */
export type ExplainedVerdict = {
  /** `collected`: it goes into a digest. `perhaps`: it depends on what is being sent this moment. */
  readonly verdict: 'sent' | 'held' | 'dropped' | 'collected' | 'perhaps';
  /** Why it would be dropped, as its delivery would say; else null. */
  readonly reason: Extract<DeliveryReason, 'rule_withdrawn' | 'quiet_hours' | 'capped'> | null;
  /** Earliest time to send. Null: now, or never. */
  readonly until: Instant | null;
};

export type ExplainedCadence = ExplainedVerdict & {
  readonly channel: ChannelName;
  readonly zone: string;
  readonly transactional: boolean;
  readonly quietHours: { readonly then: 'hold' | 'drop'; readonly until: Instant } | null;
  readonly limits: readonly ExplainedLimit[];
};

/** Trigger id that matches no sent message. */
const NEXT = '' as TriggerId;

/**
 * Explains what quiet hours and limits decide about a message of this notification to a person at a time, with the
 * functions of real deliveries. `entries`: messages sent to that person, with `sure` if known to be sent.
 */
export function explainCadence(
  configuration: Configuration,
  notification: Resource<'notification'>,
  channel: ChannelName,
  { entries, zone, now }: { readonly entries: readonly SentEntry[]; readonly zone: string; readonly now: Instant },
): ExplainedCadence {
  const { workspace } = notification.ref;
  const transactional = notification.body.transactional === true;
  const rules = quietRulesOf(notification.body, findResource(configuration, 'workspace', workspace, '')?.body, channel);
  const [never, held] = [quietUntil(rules.drop, zone, now), quietUntil(rules.hold, zone, now)];
  const quietHours =
    never !== null
      ? ({ then: 'drop', until: never } as const)
      : held !== null
        ? ({ then: 'hold', until: held } as const)
        : null;
  const message = {
    triggerId: NEXT,
    notificationId: notificationIdOf(notification),
    category: notification.body.category ?? null,
    channel,
  };
  const met = limitsMet(limitIndexOf(configuration, workspace), message);
  const limits = met.map((limit): ExplainedLimit => {
    const counted = countedBy(limit, entries, message, zone, now);
    const alone = decideLimits([limit], entries, message, zone, now);
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
  const { expires } = deliverySettings(notification.body);
  const verdict = verdictOf(notification, { rules, met, entries, message, zone, now, notAfter: now + expires });
  return { channel, zone, transactional, quietHours, limits, ...verdict };
}

type Asked = {
  readonly rules: QuietRules;
  readonly met: readonly FrequencyLimit[];
  readonly entries: readonly SentEntry[];
  readonly message: Countable;
  readonly zone: string;
  readonly now: Instant;
  /** Messages that could only go after this are dropped; waiting does not extend it. */
  readonly notAfter: Instant;
};

const dropped = (reason: NonNullable<ExplainedVerdict['reason']>): ExplainedVerdict => ({
  verdict: 'dropped',
  reason,
  until: null,
});

/**
 * Runs the checks before sending in the order of a real delivery, which starts from the first check again after each
 * wait.
 */
function verdictOf(
  { body }: Resource<'notification'>,
  { rules, met, entries, message, zone, now, notAfter }: Asked,
): ExplainedVerdict {
  if (body.enabled === false || Object.values(body.rules).every(({ enabled }) => enabled === false))
    return dropped('rule_withdrawn');
  const digest = digestSettings(body);
  // An item is not held for the night first: its digest is.
  if (digest?.when === 'always') return { verdict: 'collected', reason: null, until: null };
  let at = now;
  const goesOn = (verdict: 'sent' | 'collected' | 'perhaps'): ExplainedVerdict => {
    if (at === now) return { verdict, reason: null, until: null };
    return { verdict: verdict === 'perhaps' ? 'perhaps' : 'held', reason: null, until: at };
  };
  for (;;) {
    if (quietUntil(rules.drop, zone, at) !== null) return dropped('quiet_hours');
    const night = quietUntil(rules.hold, zone, at);
    if (night !== null) {
      if (night > notAfter) return dropped('quiet_hours');
      at = night;
      continue;
    }
    const full = decideLimits(met, entries, message, zone, at);
    if (full.kind === 'look') return goesOn('perhaps');
    if (full.kind === 'room') return goesOn('sent');
    if (full.limit.action === 'digest' && digest) return goesOn('collected');
    const capped = cappedVerdict(full, { notAfter }, zone);
    if (capped.kind === 'end') return dropped(capped.reason);
    at = capped.until;
  }
}
