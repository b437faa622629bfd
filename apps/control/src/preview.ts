import type { PreviewedMessage } from '@carillon/contracts';
import { CHANNELS, templateOf, type ChannelName, type RenderedParts } from '@carillon/domain/channels';
import {
  findResource,
  sandboxedWords,
  wrongLocalityText,
  type Configuration,
  type Resource,
} from '@carillon/domain/configuration';
import { accountsOf, sandboxOf, type AccountChoice, type Intent } from '@carillon/domain/deliveries';
import { pathText } from '@carillon/domain/events';
import { templateForReader } from '@carillon/domain/templates';
import type { DeliveryId, EventId, IntentId, JsonObject, TriggerId } from '@carillon/kernel';
import { renderMessage } from '@carillon/stages';
import { NO_CONTENT, showContent } from './content.ts';
import { asDigest } from './digest-samples.ts';
import type { RoutePorts } from './ports.ts';

export type PreviewPorts = Pick<RoutePorts, 'templates' | 'ids' | 'links'> & {
  readonly configuration: Pick<RoutePorts['configuration'], 'current'>;
};

/** A template that is shown without a rule that fired. */
export type Shown = {
  readonly workspace: string;
  readonly template: string;
  readonly channel: ChannelName;
  /** Fields of an event, and variables of a recipient by bare name. */
  readonly variables: JsonObject;
  /** Notification of the previewed message. It decides the account and the unsubscribe links. */
  readonly notification: Resource<'notification'> | undefined;
  /** The stable id of the notification; of a template that none uses, anything. */
  readonly notificationId: string;
  /** Note about the variables, or null. */
  readonly note: string | null;
};

/** The first message of an intent as it would be sent now; where it would be an item of a digest, one with others like it. */
export async function previewIntent(
  intent: Intent,
  notification: Resource<'notification'>,
  ports: PreviewPorts,
): Promise<PreviewedMessage> {
  const [account] = accountsOf(ports.configuration.current(), notification, intent.slot.channel);
  const { example } = CHANNELS[intent.slot.channel].address;
  const sent = asDigest(intent, notification, ports.configuration.current());
  const shown = await preview({ ...sent.intent, to: example, test: PREVIEW }, account, sent.note, ports);
  return intent.to === null && shown.ok ? { ...shown, ok: false, error: 'no address: it would be suppressed' } : shown;
}

/** Renders a template to an address that belongs to nobody. */
export async function previewMessage(
  { workspace, template, channel, variables, notification, notificationId, note }: Shown,
  ports: PreviewPorts,
): Promise<PreviewedMessage> {
  const current = ports.configuration.current();
  const found = findResource(current, 'template', workspace, template);
  if (!found) return failed(channel, `there is no template ${template}`);
  if (!templateOf(found.body, channel)) return failed(channel, `template ${template} has nothing for ${channel}`);
  const { example } = CHANNELS[channel].address;
  const intent: Intent = {
    ...NOTHING,
    slot: { workspace, notificationId, channel, uniqueId: 'preview' },
    notification: notification?.ref.name ?? '',
    configNumber: current.number,
    to: example,
    person: example,
    variables,
    template,
    templateVersion: found.version,
  };
  const account = notification && accountsOf(current, notification, channel)[0];
  return preview(intent, account, note, ports);
}

/** Links in previews are test links, so that a reader of the preview cannot stop messages to anybody. */
const PREVIEW = { by: 'preview' };

/** Intent fields that a preview does not use. */
const NOTHING = {
  id: 'int_preview' as IntentId,
  rule: '',
  ruleId: '',
  ruleVersion: 0,
  eventId: 'evt_preview' as EventId,
  eventPosition: '',
  triggerId: 'trg_preview' as TriggerId,
  causedAt: 0,
  sendAt: 0,
  notAfter: 0,
  traceparent: null,
  test: PREVIEW,
} as const;

/** Renders a message with the function that renders real deliveries, for a delivery that is never stored. */
async function preview(
  intent: Intent,
  account: AccountChoice | undefined,
  note: string | null,
  { configuration, ...ports }: PreviewPorts,
): Promise<PreviewedMessage> {
  const current: Configuration = configuration.current();
  const { channel } = intent.slot;
  const delivery = { id: 'dlv_preview' as DeliveryId, slot: intent.slot, intent, attempts: [] };
  const rendered = await renderMessage(delivery, account ?? sandboxOf(channel), {
    ...ports,
    configuration: { current: () => current, at: async () => current },
  });
  const missing = [...rendered.missing];
  const sandboxed = sandboxedWords(current, intent.slot.workspace);
  const notes = [note, sandboxed, ...rendered.wrong.map(wrongLocalityText), rendered.language].filter(
    (one) => one !== null,
  );
  const { workspace } = intent.slot;
  const chosen = templateForReader(current, workspace, intent.template, channel, intent.variables)?.chosen;
  const fields = [
    ...new Set(chosen ? ports.templates.fields(chosen.template).map(({ steps }) => pathText(steps)) : []),
  ];
  const facts = { missing, fields: fields.filter((path) => path !== ''), variant: chosen?.variant ?? null, notes };
  if (!rendered.ok) return { ...failed(channel, rendered.why, rendered.parts), ...facts };
  const { to: _to, ...content } = showContent(rendered.message);
  return { ...content, ok: true, error: null, links: rendered.links && { ...rendered.links }, ...facts };
}

const failed = (channel: ChannelName, error: string, parts: RenderedParts = {}): PreviewedMessage => ({
  ...NO_CONTENT,
  channel,
  subject: parts['subject'] ?? null,
  html: parts['html'] ?? null,
  text: parts['text'] ?? null,
  ok: false,
  error,
  links: null,
  missing: [],
  fields: [],
  variant: null,
  notes: [],
});
