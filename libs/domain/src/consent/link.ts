import type { ChannelName } from '../channels/channel.ts';
import { CHANNEL_NAMES } from '../channels/channel.ts';
import type { Decision } from './consents.ts';

/** Contents of a message's consent links: person and message. Nothing in it changes during the life of the message. */
export type ConsentLink = {
  readonly workspace: string;
  /** As `personName` writes it. */
  readonly person: string;
  readonly notificationId: string;
  readonly category: string | null;
  readonly channel: ChannelName;
  /** Whether it is in a test message, whose links show what they would do, and do nothing. */
  readonly test: boolean;
};

/** The text that is sealed; its first word says in which form it is. */
export const writeConsentLink = (link: ConsentLink): string =>
  JSON.stringify([
    1,
    link.workspace,
    link.person,
    link.notificationId,
    link.category,
    link.channel,
    ...(link.test ? [true] : []),
  ]);

/** The link of an opened text; null where this version cannot read it. */
export function readConsentLink(text: string): ConsentLink | null {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parts) || parts[0] !== 1) return null;
  const [, workspace, person, notificationId, category, channel, test] = parts as readonly unknown[];
  const known = CHANNEL_NAMES.find((name) => name === channel);
  if (typeof workspace !== 'string' || typeof person !== 'string' || typeof notificationId !== 'string') return null;
  if ((category !== null && typeof category !== 'string') || known === undefined) return null;
  return { workspace, person, notificationId, category, channel: known, test: test === true };
}

/** The addresses of a link; `publicUrl` has no slash at its end. */
export const consentUrls = (publicUrl: string, token: string) => ({
  unsubscribe: `${publicUrl}/unsubscribe/${token}`,
  preferences: `${publicUrl}/preferences/${token}`,
});
export type ConsentUrls = ReturnType<typeof consentUrls>;

/**
 * Returns the choice of a one-click unsubscribe: the category, or the notification without a category, on the message's
 * channel.
 */
export const oneClick = ({ category, notificationId, channel }: ConsentLink): Decision => ({
  target: category === null ? { kind: 'notification', name: notificationId } : { kind: 'category', name: category },
  channel,
  optedOut: true,
  way: 'one_click',
});
