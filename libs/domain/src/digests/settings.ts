import { DEFAULTS, WEEKDAYS } from '@carillon/shapes/values';
import type { ChannelName } from '../channels/channel.ts';
import { channelOf } from '../channels/configured.ts';
import type { DigestBody, NotificationBody } from '../configuration/resources.ts';
import { writtenDuration } from '../configuration/written-duration.ts';
import { wallMinute } from '../cadence/settings.ts';
import type { Weekday } from '../cadence/local-time.ts';
import type { DigestWindow } from './window.ts';

/** Digest settings of a notification, with defaults filled in. */
export type DigestSettings = {
  /** `over_limit`: only what a limit of frequency would hold back is collected. */
  readonly when: 'always' | 'over_limit';
  readonly window: DigestWindow;
  readonly maxItems: number;
  /** Null: the channel's own. */
  readonly template: string | null;
};

export function digestSettings({ cadence }: NotificationBody): DigestSettings | null {
  const digest = cadence?.digest;
  if (!digest) return null;
  return {
    when: digest.when ?? DEFAULTS.digest.when,
    window: readWindow(digest.window),
    maxItems: digest.max_items ?? DEFAULTS.digest.max_items,
    template: digest.template ?? null,
  };
}

/**
 * The template of a notification's digests on a channel; undefined where it has none there, or where its messages become
 * digests only over a limit and look the same.
 */
export function digestTemplateOf(body: NotificationBody, channel: ChannelName): string | undefined {
  const [digest, said] = [digestSettings(body), channelOf(body, channel)];
  if (!digest || !said) return undefined;
  return digest.template ?? (digest.when === 'always' ? said.template : undefined);
}

/** The window as its file says it; durations that are not written count as the shape refuses them. */
export function readWindow(window: DigestBody['window']): DigestWindow {
  if ('fixed' in window) return { kind: 'fixed', length: writtenDuration(window.fixed, '1h') };
  if ('sliding' in window) {
    const step = writtenDuration(window.sliding, '10m');
    return { kind: 'sliding', step, atMost: writtenDuration(window.at_most, '2h') };
  }
  const days = window.days?.map((day) => (WEEKDAYS.indexOf(day) + 1) as Weekday);
  const every = WEEKDAYS.map((_, index) => (index + 1) as Weekday);
  return { kind: 'at', minutes: window.at.map(wallMinute), days: new Set(days ?? every) };
}
