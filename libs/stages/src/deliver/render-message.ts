import { composeMessage, type RenderedParts } from '@carillon/domain/channels';
import { publicUrlOf, type Configuration, type WrongLocality } from '@carillon/domain/configuration';
import { consentUrls, personName, writeConsentLink, type ConsentUrls } from '@carillon/domain/consent';
import { findNotification, type AccountChoice, type Delivery } from '@carillon/domain/deliveries';
import type { ConfigurationView, Ids, LinkTokens, RenderedMessage, TemplateRenderer } from '@carillon/ports';
import { renderPinned } from './rendering.ts';

/** What the links of a message are made of. */
type LinkingPorts = {
  readonly links: Pick<LinkTokens, 'seal'>;
  readonly configuration: Pick<ConfigurationView, 'current' | 'at'>;
  readonly ids: Pick<Ids, 'keyed'>;
};

/** A message as its provider is given it, or why there is none. */
export type RenderedForSending = {
  readonly missing: readonly string[];
  readonly wrong: readonly WrongLocality[];
  /** In which language it is and why, in words; null of a template that has no languages. */
  readonly language: string | null;
} & (
  | { readonly ok: true; readonly message: RenderedMessage; readonly links: ConsentUrls | null }
  | { readonly ok: false; readonly why: string; readonly parts: RenderedParts }
);

/**
 * What a provider is given for a delivery at its next attempt. Template and workspace are those pinned when the intent was
 * made; only the sender's address is of today. Previews are made by it too, so that what is shown is what is sent.
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
 * The addresses that stop such messages: the same at every attempt, for they come from the pinned configuration. None where
 * the deployment has no public address, and none in what nobody can opt out of.
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

/** Links of a test message are nobody's: whoever may send one must not see by them what somebody wants. */
const NOBODY = 'test';
