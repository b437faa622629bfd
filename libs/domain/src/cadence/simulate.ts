import type { DeliveryId, Duration, Instant, Coroutine, TriggerId } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';
import { channelsOf } from '../channels/configured.ts';
import { findResource, listResources, type Configuration, type Resource } from '../configuration/configuration.ts';
import { notificationIdOf } from '../configuration/streams.ts';
import { deliverySettings } from '../deliveries/settings.ts';
import { digestSettings, type DigestSettings } from '../digests/settings.ts';
import { extendedBy, openedNow, type WindowEnd } from '../digests/window.ts';
import { dueAt } from './delay.ts';
import { limitIndexOf, limitsMet, limitWords, periodLength, type LimitIndex } from './limit-settings.ts';
import { decideLimits, type FrequencyLimit, type SentEntry } from './limits.ts';
import { quietUntil } from './quiet-hours.ts';
import { quietRulesOf, type QuietRules } from './settings.ts';

/** A message of the past, as far as cadence looks at it. */
export type PastMessage = {
  readonly deliveryId: DeliveryId;
  readonly triggerId: TriggerId;
  readonly notificationId: string;
  readonly channel: ChannelName;
  readonly person: string;
  readonly zone: string;
  /** When its event was appended. */
  readonly causedAt: Instant;
  /** Due time then, with the value of a delay until a time of the event. */
  readonly sendAt: Instant;
  /** Key by which items share a digest: person, address, and digest key. */
  readonly meets: string;
};

/** Simulated result of a message. `index` is that of its digest in the run. */
export type SimulatedFate =
  | { readonly kind: 'sent' | 'held'; readonly at: Instant; readonly heldBy: readonly string[] }
  | { readonly kind: 'digested'; readonly at: Instant; readonly index: number; readonly limit: string | null }
  | { readonly kind: 'dropped'; readonly at: Instant; readonly by: string; readonly filledBy: readonly DeliveryId[] };

export type SimulatedRun = {
  /** One result per message, in order. */
  readonly fates: readonly SimulatedFate[];
  /** Digests that were sent. */
  readonly digests: number;
};

type Ways = {
  readonly quiet: ReadonlyMap<ChannelName, QuietRules>;
  readonly digest: DigestSettings | null;
  readonly expires: Duration;
  readonly category: string | null;
  readonly notification: Resource<'notification'>;
};

/** A message on its way, or a digest of some. */
type Moving = {
  readonly message: PastMessage;
  /** Indexes of the messages that it contains: itself, or the items of a digest. */
  readonly tells: readonly number[];
  readonly isDigest: boolean;
  readonly notAfter: Instant;
  readonly heldBy: string[];
  at: Instant;
};
type OpenWindow = { readonly first: PastMessage; readonly items: number[]; end: WindowEnd };
/** A scheduled step: a message is checked or a digest window closes. */
type Due = { readonly at: Instant; readonly moving: Moving } | { readonly at: Instant; readonly window: string };

/** Ends of periods are told by other zones too. */
const KEPT_LONGER: Duration = 27 * 3_600_000;

/**
 * Simulates past messages on a virtual clock with the cadence of a configuration. The functions of real deliveries
 * decide delay, quiet hours, limits and digests. The simulated provider accepts each message at once. Messages sent
 * before the first one fill no limit. A message whose notification no longer exists is sent at its due time.
 */
export function* simulateCadence(
  messages: readonly PastMessage[],
  configuration: Configuration,
  workspace: string,
): Coroutine<SimulatedRun> {
  const run = new Simulation(messages, configuration, workspace);
  while (run.goOn()) yield;
  return run.result();
}

class Simulation {
  readonly #fates: SimulatedFate[] = [];
  readonly #ways: ReadonlyMap<string, Ways>;
  readonly #index: LimitIndex;
  readonly #longest: ReadonlyMap<string, Duration>;
  /** Without limits, sent messages need no record. */
  readonly #hasLimits: boolean;
  /** Latest first: the next is taken from the end. */
  readonly #due: Due[];
  readonly #sent = new Map<string, SentEntry[]>();
  readonly #windows = new Map<string, OpenWindow>();
  #digests = 0;

  constructor(messages: readonly PastMessage[], configuration: Configuration, workspace: string) {
    this.#ways = waysOf(configuration, workspace);
    this.#index = limitIndexOf(configuration, workspace);
    const ids = new Set(messages.map(({ notificationId }) => notificationId));
    this.#hasLimits = [...ids].some((id) => this.#index.of(id).length > 0);
    this.#longest = new Map(
      [...ids].map((id) => [id, Math.max(0, ...this.#index.of(id).map(periodLength)) + KEPT_LONGER]),
    );
    this.#due = messages
      .map((message, index): Due => {
        const ways = this.#ways.get(message.notificationId);
        const delay = ways?.notification.body.cadence?.delay;
        const at = ways ? dueAt(delay, message.causedAt, message.zone, message.sendAt) : message.sendAt;
        const notAfter = at + (ways?.expires ?? 0);
        return { at, moving: { message, tells: [index], isDigest: false, notAfter, heldBy: [], at } };
      })
      .toSorted((a, b) => a.at - b.at)
      .toReversed();
  }

  result = (): SimulatedRun => ({ fates: this.#fates, digests: this.#digests });

  /** Processes one message or one closing window. Returns false if nothing is scheduled. */
  goOn(): boolean {
    const next = this.#due.pop();
    if (!next) return false;
    if ('window' in next) this.#close(next.window, next.at);
    else this.#look(next.moving);
    return true;
  }

  #look(moving: Moving): void {
    const { message, at } = moving;
    const ways = this.#ways.get(message.notificationId);
    const quiet = ways?.quiet.get(message.channel);
    if (quiet && quietUntil(quiet.drop, message.zone, at) !== null) return this.#drop(moving, 'quiet hours');
    if (ways?.digest?.when === 'always' && !moving.isDigest) return this.#collect(moving, ways.digest, null);
    const night = quiet ? quietUntil(quiet.hold, message.zone, at) : null;
    if (night !== null) return this.#hold(moving, night, 'quiet hours');
    if (this.#hasLimits) {
      const asked = { ...message, category: ways?.category ?? null };
      const limits = ways ? limitsMet(this.#index, asked) : [];
      const full = decideLimits(limits, this.#entriesOf(message, at), asked, message.zone, at);
      if (full.kind === 'full') return this.#meetLimit(moving, full, ways?.digest ?? null);
    }
    this.#send(moving, ways?.category ?? null);
  }

  #meetLimit(
    moving: Moving,
    { limit, until, by }: { limit: FrequencyLimit; until: Instant; by: readonly SentEntry[] },
    digest: DigestSettings | null,
  ): void {
    const words = limitWords(limit);
    if (limit.action === 'drop') return this.#drop(moving, words, by);
    if (limit.action === 'digest' && digest && !moving.isDigest) return this.#collect(moving, digest, words);
    this.#hold(moving, until, words, by);
  }

  #hold(moving: Moving, until: Instant, by: string, filledBy: readonly SentEntry[] = []): void {
    if (until > moving.notAfter) return this.#drop(moving, by, filledBy);
    if (!moving.heldBy.includes(by)) moving.heldBy.push(by);
    moving.at = until;
    this.#put({ at: until, moving });
  }

  #drop({ tells, at }: Moving, by: string, filledBy: readonly SentEntry[] = []): void {
    const ids = [...new Set(filledBy.map(({ deliveryId }) => deliveryId))];
    for (const index of tells) this.#fates[index] = { kind: 'dropped', at, by, filledBy: ids };
  }

  #send({ message, tells, isDigest, heldBy, at }: Moving, category: string | null): void {
    const { person, deliveryId, triggerId, notificationId, channel } = message;
    if (this.#hasLimits) {
      const entries = this.#sent.get(person) ?? [];
      // A digest counts toward limits as a separate message, not as the message of its newest item's trigger.
      const trigger = isDigest ? (`digest ${this.#digests}` as TriggerId) : triggerId;
      entries.push({ deliveryId, triggerId: trigger, notificationId, category, channel, token: '', at, sure: true });
      this.#sent.set(person, entries);
    }
    for (const index of tells) {
      const before = this.#fates[index];
      this.#fates[index] = isDigest
        ? { kind: 'digested', at, index: this.#digests, limit: before?.kind === 'digested' ? before.limit : null }
        : { kind: heldBy.length > 0 ? 'held' : 'sent', at, heldBy };
    }
    if (isDigest) this.#digests += 1;
  }

  /** Returns the person's entries so far, without those that no limit counts any more. */
  #entriesOf({ person, notificationId }: PastMessage, now: Instant): readonly SentEntry[] {
    const longest = this.#longest.get(notificationId) ?? 0;
    return (this.#sent.get(person) ?? []).filter(({ at }) => at + longest > now);
  }

  #collect({ message, tells, at }: Moving, digest: DigestSettings, limit: string | null): void {
    const key = `${message.notificationId} ${message.channel} ${message.meets}`;
    const open = this.#windows.get(key);
    for (const index of tells) this.#fates[index] = { kind: 'digested', at, index: -1, limit };
    if (open) {
      open.items.push(...tells);
      open.end = extendedBy(open.end, at);
    } else {
      this.#windows.set(key, { first: message, items: [...tells], end: openedNow(digest.window, message.zone, at) });
    }
    const window = this.#windows.get(key);
    if (!window) return;
    if (window.items.length >= digest.maxItems) this.#empty(key, window, at);
    else if (!open) this.#put({ at: window.end.closesAt, window: key });
  }

  /** A postponed window is checked again. A window that closed because it was full is gone. */
  #close(key: string, at: Instant): void {
    const window = this.#windows.get(key);
    if (!window) return;
    if (window.end.closesAt > at) this.#put({ at: window.end.closesAt, window: key });
    else this.#empty(key, window, at);
  }

  #empty(key: string, { first, items }: OpenWindow, at: Instant): void {
    this.#windows.delete(key);
    const expires = this.#ways.get(first.notificationId)?.expires ?? 0;
    this.#look({ message: first, tells: items, isDigest: true, notAfter: at + expires, heldBy: [], at });
  }

  #put(due: Due): void {
    let [low, high] = [0, this.#due.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#due[middle]?.at ?? 0) > due.at) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, due);
  }
}

/** By the notification's stable id. */
function waysOf(configuration: Configuration, workspace: string): ReadonlyMap<string, Ways> {
  const common = findResource(configuration, 'workspace', workspace, '')?.body;
  return new Map(
    listResources(configuration, 'notification', workspace).map((notification) => {
      const { body } = notification;
      return [
        notificationIdOf(notification),
        {
          notification,
          quiet: new Map(channelsOf(body).map(([channel]) => [channel, quietRulesOf(body, common, channel)])),
          digest: digestSettings(body),
          expires: deliverySettings(body).expires,
          category: body.category ?? null,
        },
      ] as const;
    }),
  );
}
