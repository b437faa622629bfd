import { CHANNELS, type ChannelName, type RenderedParts } from '@carillon/domain/channels';
import { wrongLocalityText, type WrongLocality } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryId, Instant, JsonObject } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import { renderPinned, type RenderingPorts } from '@carillon/stages';

export type MessageContentPorts = RenderingPorts & { readonly ledger: Pick<DeliveryLedger, 'get'> };

/** A rendered part of a message, such as `subject`, under its name in the template. */
export type MessagePart = { readonly name: string; readonly text: string };

/** The provider's response to one call, as it sent it. */
export type ProviderReply = {
  readonly attemptId: string;
  readonly at: Instant;
  readonly account: string;
  /** Null: no answer is known. */
  readonly verdict: string | null;
  readonly code: string;
  readonly words: string;
  /** Message id of the provider, such as a queue id. Null if it gave none. */
  readonly providerId: string | null;
};

/** Content of a delivery's message, sent or not, with the provider's responses. */
export type MessageContent = {
  readonly deliveryId: DeliveryId;
  readonly workspace: string;
  readonly channel: ChannelName;
  readonly to: string | null;
  readonly template: string;
  readonly templateVersion: number;
  readonly configNumber: number;
  /** What the template was given. */
  readonly variables: JsonObject;
  /** Parts in the channel's order. Empty if rendering failed. */
  readonly parts: readonly MessagePart[];
  /** Names that the template looked for in vain: each became empty text. */
  readonly missing: readonly string[];
  /** Differences between the data and the rendered message, such as another language. */
  readonly notes: readonly string[];
  /** Why the message cannot be rendered. Null if it can. */
  readonly problem: string | null;
  readonly replies: readonly ProviderReply[];
};

/**
 * Placeholders for unsubscribe links, which work for everyone who has them and are therefore shown only to the
 * recipient.
 */
export const KEPT_BACK = {
  unsubscribe_url: 'https://kept-back.invalid/unsubscribe',
  preferences_url: 'https://kept-back.invalid/preferences',
};

/**
 * Renders the message of a delivery again with the code that renders it for the provider, whatever the state of the
 * delivery. Null if there is no such delivery.
 */
export async function openMessage(id: string, ports: MessageContentPorts): Promise<MessageContent | null> {
  const delivery = await ports.ledger.get(id as DeliveryId);
  if (!delivery) return null;
  const { intent, slot } = delivery;
  const rendered = await renderPinned(delivery, KEPT_BACK, ports);
  const texts: RenderedParts = rendered.ok ? rendered.parts : {};
  const known = CHANNELS[slot.channel].parts.map(({ name }) => name);
  const parts = [...new Set([...known, ...Object.keys(texts)])].flatMap((name): MessagePart[] => {
    const text = texts[name];
    return text === undefined ? [] : [{ name, text }];
  });
  return {
    deliveryId: delivery.id,
    workspace: slot.workspace,
    channel: slot.channel,
    to: intent.to,
    template: intent.template,
    templateVersion: intent.templateVersion,
    configNumber: intent.configNumber,
    variables: intent.variables,
    parts,
    missing: rendered.ok ? rendered.missing : [],
    notes: rendered.ok ? notesOf(rendered.wrong, rendered.language) : [],
    problem: rendered.ok ? null : rendered.why,
    replies: delivery.attempts.map(replyTo),
  };
}

const notesOf = (wrong: readonly WrongLocality[], language: string | null): readonly string[] => [
  ...wrong.map(wrongLocalityText),
  ...(language === null ? [] : [language]),
];

function replyTo({ id, startedAt, endedAt, account, result }: Delivery['attempts'][number]): ProviderReply {
  return {
    attemptId: id,
    at: endedAt ?? startedAt,
    account,
    verdict: result?.verdict ?? null,
    code: result?.code ?? '',
    words: result?.detail ?? '',
    providerId: result?.providerId ?? null,
  };
}
