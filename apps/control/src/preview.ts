import type { PreviewedMessage } from '@carillon/contracts';
import {
  accountsOf,
  CHANNELS,
  composeMessage,
  findResource,
  localityOf,
  templateOf,
  wrongLocalityText,
  type AccountBody,
  type ChannelName,
  type Intent,
  type RenderedParts,
  type Resource,
} from '@carillon/domain';
import type { JsonObject } from '@carillon/kernel';
import { NO_CONTENT, showContent } from './content.ts';
import type { RoutePorts } from './ports.ts';

type PreviewPorts = Pick<RoutePorts, 'templates'> & {
  readonly configuration: Pick<RoutePorts['configuration'], 'current'>;
};

/** What is to be shown, and from whose account it would go out. */
type Asked = {
  readonly workspace: string;
  readonly template: string;
  readonly channel: ChannelName;
  readonly variables: JsonObject;
  readonly account: AccountBody | undefined;
};

/** The first message of an intent as it would be sent now. */
export async function previewIntent(
  intent: Intent,
  notification: Resource<'notification'>,
  ports: PreviewPorts,
): Promise<PreviewedMessage> {
  const { channel, workspace } = intent.slot;
  const [account] = accountsOf(ports.configuration.current(), notification, channel);
  const asked = { ...intent, workspace, channel, account: account?.body };
  const shown = await previewMessage(asked, ports);
  return intent.to === null && shown.ok ? { ...shown, ok: false, error: 'no address: it would be suppressed' } : shown;
}

/** A message by the code that makes what is sent, to an address that is nobody's. */
export async function previewMessage(
  asked: Asked,
  { configuration, templates }: PreviewPorts,
): Promise<PreviewedMessage> {
  const current = configuration.current();
  const { channel, workspace, variables } = asked;
  const failed = (error: string, parts: RenderedParts = {}): PreviewedMessage => ({
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
  const template = findResource(current, 'template', workspace, asked.template);
  if (!template) return failed(`there is no template ${asked.template}`);
  const own = templateOf(template.body, channel);
  if (!own) return failed(`template ${asked.template} has nothing for ${channel}`);
  const key = `${workspace}/${asked.template}@${template.number}`;
  const { locality, wrong } = localityOf(current, workspace, variables);
  const rendered = await templates.render(key, own, variables, locality);
  if (!rendered.ok) return failed(`${rendered.part}: ${rendered.message}`);
  const addressed = { channel, deliveryId: 'preview', attempt: 1, to: CHANNELS[channel].address.example };
  const composed = composeMessage(addressed, { ...own, parts: rendered.parts }, asked.account ?? {});
  const missing = [...rendered.missing];
  const notes = wrong.map(wrongLocalityText);
  if (!composed.ok) return { ...failed(composed.error, rendered.parts), missing, notes };
  const { to: _to, ...content } = showContent(composed.value);
  return { ...content, ok: true, error: null, missing, notes };
}
