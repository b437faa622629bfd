import { templatePreviewBody } from '@carillon/contracts';
import {
  accountsOf,
  CHANNEL_NAMES,
  channelsOf,
  findResource,
  readEvent,
  templateOf,
  type AccountChoice,
  type ChannelName,
  type Configuration,
} from '@carillon/domain';
import { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import type { RoutePorts } from '../ports.ts';
import { previewMessage } from '../preview.ts';
import { notFound, oneOfWords, withName, type ApiServer } from './app.ts';

const previewRequest = z.strictObject({
  event: z
    .string()
    .max(262_144)
    .describe('The event as JSON text: its fields, and variables of a recipient by bare name'),
  channel: oneOfWords('channel', CHANNEL_NAMES).optional().describe('Left out: all that the template has'),
});

type TemplatePorts = Pick<RoutePorts, 'configuration' | 'templates' | 'ids'>;

/** `template preview`: what a template makes of an event, by the code that makes what is sent. Nothing is written. */
export function templateRoutes(app: ApiServer, ports: TemplatePorts): void {
  app.post(
    '/v1/workspaces/:workspace/templates/:name/preview',
    {
      config: { permission: 'read', problems: ['not_found', 'invalid_request'] },
      schema: {
        operationId: 'previewTemplate',
        tags: ['Templates'],
        summary: 'Renders a template with an event, on each of its channels, without sending',
        params: withName,
        body: previewRequest,
        response: { 200: templatePreviewBody },
      },
    },
    async ({ params, body }) => {
      const { workspace, name } = params;
      const configuration = ports.configuration.current();
      const template = findResource(configuration, 'template', workspace, name);
      if (!template) throw notFound(`template ${name} in workspace ${workspace}`);
      const channels = CHANNEL_NAMES.filter((channel) => templateOf(template.body, channel));
      if (body.channel !== undefined && !channels.includes(body.channel)) {
        throw new CarillonError('invalid_request', `channel: template ${name} has ${channels.join(', ')} alone`);
      }
      const read = readEvent(new TextEncoder().encode(body.event));
      if (!read.ok) {
        const { code, ...fault } = read.error;
        throw new CarillonError(code, `event: ${fault.detail}`, fault);
      }
      const messages = [];
      for (const channel of body.channel === undefined ? channels : [body.channel]) {
        const account = accountFor(configuration, workspace, name, channel);
        const asked = { workspace, template: name, channel, variables: read.value.body, account: account?.body };
        messages.push(await previewMessage(asked, ports));
      }
      return { template: name, version: template.version, messages };
    },
  );
}

/** The account that the first notification with this template sends over: it says who an email is from. */
function accountFor(
  configuration: Configuration,
  workspace: string,
  template: string,
  channel: ChannelName,
): AccountChoice | undefined {
  for (const { ref } of configuration.resources.values()) {
    if (ref.kind !== 'notification' || ref.workspace !== workspace) continue;
    const notification = findResource(configuration, 'notification', workspace, ref.name);
    const uses =
      notification && channelsOf(notification.body).some(([on, said]) => on === channel && said.template === template);
    if (uses) return accountsOf(configuration, notification, channel)[0];
  }
  return undefined;
}
