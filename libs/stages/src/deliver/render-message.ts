import { composeMessage, type RenderedParts } from '@carillon/domain/channels';
import { publicUrlOf, type Configuration, type WrongLocality } from '@carillon/domain/configuration';
import { consentUrls, personName, writeConsentLink, type ConsentUrls } from '@carillon/domain/consent';
import { findNotification, type AccountChoice, type Delivery } from '@carillon/domain/deliveries';
import type { ConfigurationView, Ids, LinkTokens, RenderedMessage, TemplateRenderer } from '@carillon/ports';
import { renderPinned } from './rendering.ts';

/** Ports to build the links of a message. */
type LinkingPorts = {
  readonly links: Pick<LinkTokens, 'seal'>;
  readonly configuration: Pick<ConfigurationView, 'current' | 'at'>;
  readonly ids: Pick<Ids, 'keyed'>;
};

/** A message ready for its provider, or the reason why it cannot be rendered. */
export type RenderedForSending = {
  readonly missing: readonly string[];
  readonly wrong: readonly WrongLocality[];
  /** Language of the message and why, as text. Null if the template has no languages. */
  readonly language: string | null;
} & (
  | { readonly ok: true; readonly message: RenderedMessage; readonly links: ConsentUrls | null }
  | { readonly ok: false; readonly why: string; readonly parts: RenderedParts }
);

/**
 * Renders the message of a delivery's next attempt. Template and workspace are those pinned in the intent; only the
 * sender address is current. Previews use it too, so that they show what is sent.
 */
export async function renderMessage(
  delivery: Pick<Delivery, 'id' | 'slot' | 'intent' | 'attempts'>,
  choice: Pick<AccountChoice, 'body'>,
  ports: LinkingPorts & { readonly templates: TemplateRenderer },
): Promise<RenderedForSending> {
  const pinned = await ports.configuration.at(delivery.intent.configNumber);
  const links = linksOf(delivery, pinned, ports);
  const own = links ? { unsubscribe_url: links.unsubscribe, preferences_url: links.preferences } : {};
  const rendered = await renderPinned(delivery, own, ports);
  if (!rendered.ok) return { ...rendered, parts: {}, missing: [], wrong: [], language: null };
  const { id: deliveryId, attempts, intent, slot } = delivery;
  const addressed = {
    channel: slot.channel,
    deliveryId,
    attempt: attempts.length + 1,
    to: intent.to,
    ...(links && { unsubscribe: links.unsubscribe }),
  };
  const { parts, missing, wrong, language } = rendered;
  const message = composeMessage(addressed, { ...rendered.template, parts }, choice.body);
  if (!message.ok) return { ok: false, why: message.error, parts, missing, wrong, language };
  return { ok: true, message: message.value, links, missing, wrong, language };
}

/**
 * Returns the unsubscribe links, which are equal for all attempts because they use the pinned configuration. None
 * without a public URL, or if nobody can opt out of the message.
 */
function linksOf(
  { slot, intent }: Pick<Delivery, 'slot' | 'intent'>,
  pinned: Configuration,
  { configuration, ids, links }: LinkingPorts,
): ConsentUrls | null {
  const publicUrl = publicUrlOf(configuration.current());
  const notification = findNotification(pinned, slot);
  if (publicUrl === null || notification?.body.transactional === true) return null;
  const { workspace, notificationId, channel } = slot;
  const test = intent.test !== undefined;
  const person = test ? NOBODY : personName(intent.person, (...parts) => ids.keyed(...parts));
  const category = notification?.body.category ?? null;
  const link = { workspace, person, notificationId, category, channel, test };
  return consentUrls(publicUrl, links.seal(writeConsentLink(link)));
}

/** Person in the links of test messages, so that the sender of a test cannot see a person's choices. */
const NOBODY = 'test';
