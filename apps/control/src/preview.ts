import type { RuleTestBody } from '@carillon/contracts';
import {
  accountsOf,
  CHANNELS,
  composeMessage,
  findResource,
  localityOf,
  openDelivery,
  templateOf,
  wrongLocalityText,
  type Intent,
  type RenderedParts,
  type Resource,
} from '@carillon/domain';
import type { DeliveryId } from '@carillon/kernel';
import { NO_CONTENT, showContent } from './content.ts';
import type { RoutePorts } from './ports.ts';

type PreviewPorts = Pick<RoutePorts, 'templates' | 'ids'> & {
  readonly configuration: Pick<RoutePorts['configuration'], 'current'>;
};
type Previewed = RuleTestBody['recipients'][number]['messages'][number];

/** The first message of an intent as it would be sent now, made by the code that makes what is sent. */
export async function previewIntent(
  intent: Intent,
  id: DeliveryId,
  notification: Resource<'notification'>,
  { configuration, templates, ids }: PreviewPorts,
): Promise<Previewed> {
  const current = configuration.current();
  const { channel, workspace } = intent.slot;
  const failed = (error: string, parts: RenderedParts = {}): Previewed => ({
    ...NO_CONTENT,
    channel,
    subject: parts['subject'] ?? null,
    html: parts['html'] ?? null,
    text: parts['text'] ?? null,
    ok: false,
    error,
    missing: [],
    notes: [],
  });
  const template = findResource(current, 'template', workspace, intent.template);
  if (!template) return failed(`there is no template ${intent.template}`);
  const own = templateOf(template.body, channel);
  if (!own) return failed(`template ${intent.template} has nothing for ${channel}`);
  const key = `${workspace}/${intent.template}@${template.number}`;
  const { locality, wrong } = localityOf(current, workspace, intent.variables);
  const rendered = await templates.render(key, own, intent.variables, locality);
  if (!rendered.ok) return failed(`${rendered.part}: ${rendered.message}`);
  const [account] = accountsOf(current, notification, channel);
  const delivery = openDelivery(intent, '', id, { now: intent.causedAt, derive: ids.derive });
  // Somebody without an address is shown what somebody with one would get.
  const to = intent.to ?? CHANNELS[channel].address.example;
  const addressed = { channel, deliveryId: delivery.id, attempt: 1, to };
  const composed = composeMessage(addressed, { ...own, parts: rendered.parts }, account?.body ?? {});
  const missing = [...rendered.missing];
  const notes = wrong.map(wrongLocalityText);
  if (!composed.ok) return { ...failed(composed.error, rendered.parts), missing, notes };
  const { to: _to, ...content } = showContent(composed.value);
  const error = intent.to === null ? 'no address: it would be suppressed' : null;
  return { ...content, ok: error === null, error, missing, notes };
}
