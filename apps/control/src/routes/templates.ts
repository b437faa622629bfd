import { templatePreviewBody, type TemplatePreviewBody } from '@carillon/contracts';
import {
  CHANNEL_NAMES,
  channelsOf,
  findResource,
  listResources,
  LOCALITY_VARIABLES,
  notificationIdOf,
  readEvent,
  templateOf,
  type ChannelName,
  type Configuration,
  type Resource,
} from '@carillon/domain';
import { CarillonError, isLocale, isTimeZone, type JsonObject } from '@carillon/kernel';
import { z } from 'zod';
import { principalOf, type Principal } from '../access/principal.ts';
import { sightOf, type Sight } from '../access/sight.ts';
import { configurationTried } from '../drafts/with-drafts.ts';
import type { PlanningPorts, RoutePorts } from '../ports.ts';
import { isTemplateOfDigest, sampledAsDigest } from '../digest-samples.ts';
import { previewMessage, type PreviewPorts } from '../preview.ts';
import { notFound, oneOfWords, withName, type ApiServer } from './app.ts';
import { eventOnLog } from './rules.ts';

/** An event that is not on the log, and in whose language and at whose clock a template is rendered with it. */
export const renderedWith = {
  event: z
    .string()
    .max(262_144)
    .describe('The event as JSON text: its fields, and variables of a recipient by bare name'),
  locale: z.string().max(100).optional().describe('As the recipient’s variable `locale`, such as de-AT'),
  time_zone: z.string().max(100).optional().describe('As the recipient’s variable `time_zone`, such as Europe/Vienna'),
};
type RenderedWith = {
  readonly event: string;
  readonly locale?: string | undefined;
  readonly time_zone?: string | undefined;
};

const IS_ONE = { time_zone: isTimeZone, locale: isLocale } as const;

/**
 * What a template is rendered with. Throws as the intake refuses an event, and `invalid_request` for a locale or zone that names none: what was
 * typed here is not to be overlooked as data is.
 */
export function variablesOf(asked: RenderedWith): JsonObject {
  const read = readEvent(new TextEncoder().encode(asked.event));
  if (!read.ok) {
    const { code, ...fault } = read.error;
    throw new CarillonError(code, `event: ${fault.detail}`, fault);
  }
  return { ...read.value.body, ...localityIn(asked) };
}

function localityIn(asked: Omit<RenderedWith, 'event'>): Readonly<Record<string, string>> {
  const own: Record<string, string> = {};
  for (const name of LOCALITY_VARIABLES) {
    const said = asked[name];
    if (said === undefined) continue;
    if (!IS_ONE[name](said)) throw new CarillonError('invalid_request', `${name}: ${said} names none that exists`);
    own[name] = said;
  }
  return own;
}

const previewRequest = z.strictObject({
  ...renderedWith,
  event: renderedWith.event.optional(),
  event_id: z.string().max(100).optional().describe('Instead of it: an event that is on the log'),
  channel: oneOfWords('channel', CHANNEL_NAMES).optional().describe('Left out: all that the template has'),
  items: z
    .int()
    .min(0)
    .max(500)
    .optional()
    .describe(
      'As a digest of so many items, each as the event; 0: as one message. Left out: 3 where it is a template of digests',
    ),
  drafts: z
    .boolean()
    .default(false)
    .describe('As it is with the drafts of the workspace: of the template, of its layout and of partials'),
});
type PreviewRequest = z.infer<typeof previewRequest>;

export type TemplatePorts = PreviewPorts &
  PlanningPorts &
  Pick<RoutePorts, 'clock' | 'configuration' | 'templates' | 'drafts' | 'log' | 'readModels'>;

/** `template preview`: what a template makes of an event, by the code that makes what is sent. Nothing is written. */
export function templateRoutes(app: ApiServer, ports: TemplatePorts): void {
  app.post(
    '/v1/workspaces/:workspace/templates/:name/preview',
    {
      config: { permission: 'read', audit: false, problems: ['not_found', 'invalid_request', 'invalid_configuration'] },
      schema: {
        operationId: 'previewTemplate',
        tags: ['Templates'],
        summary: 'Renders a template with an event, on each of its channels, without sending',
        params: withName,
        body: previewRequest,
        response: { 200: templatePreviewBody },
      },
    },
    async (request) => previewTemplate(request.params, request.body, sightOf(request), principalOf(request), ports),
  );
}

/**
 * A template with an event, on each of its channels. Throws `not_found`, `invalid_request`, `invalid_configuration` of a draft with mistakes,
 * and `forbidden_role` where an event of the log is named by somebody who may not see what it holds.
 */
export async function previewTemplate(
  { workspace, name }: z.infer<typeof withName>,
  asked: PreviewRequest,
  sight: Sight,
  principal: Principal,
  ports: TemplatePorts,
): Promise<TemplatePreviewBody> {
  const configuration = await configurationTried({ kind: 'template', name }, asked.drafts, sight, ports);
  const template = findResource(configuration, 'template', workspace, name);
  if (!template) throw notFound(`template ${name} in workspace ${workspace}`);
  const channels = CHANNEL_NAMES.filter((channel) => templateOf(template.body, channel));
  if (asked.channel !== undefined && !channels.includes(asked.channel)) {
    throw new CarillonError('invalid_request', `channel: template ${name} has ${channels.join(', ')} alone`);
  }
  const variables = await variablesToTry(asked, sight, principal, ports);
  const messages = [];
  const renderedBy = { ...ports, configuration: { current: () => configuration } };
  for (const channel of asked.channel === undefined ? channels : [asked.channel]) {
    const notification = userOf(configuration, workspace, name, channel);
    const notificationId = notification ? notificationIdOf(notification) : `template:${name}`;
    const isOfDigest = isTemplateOfDigest(configuration, workspace, name, channel);
    const sampled = sampledAsDigest(variables, asked.items, isOfDigest, ports.clock.now());
    const shown = { workspace, template: name, channel, notification, notificationId, ...sampled };
    messages.push(await previewMessage(shown, renderedBy));
  }
  return { template: name, version: template.version, messages };
}

/** Of the event that was sent along, or of the one on the log that was named. */
async function variablesToTry(
  { event, event_id: id, ...asked }: PreviewRequest,
  sight: Sight,
  principal: Principal,
  ports: Pick<RoutePorts, 'log' | 'readModels'>,
): Promise<JsonObject> {
  if ((event === undefined) === (id === undefined)) {
    throw new CarillonError('invalid_request', 'event: give the event, or the event_id of one that is on the log');
  }
  if (id === undefined) return variablesOf({ ...asked, event: event ?? '' });
  const { body } = await eventOnLog(id, sight, principal, ports);
  return { ...body, ...localityIn(asked) };
}

/**
 * The first notification that sends this template, one that is switched on before one that is not: it says who an email is from,
 * and what its links stop.
 */
function userOf(
  configuration: Configuration,
  workspace: string,
  template: string,
  channel: ChannelName,
): Resource<'notification'> | undefined {
  const users = listResources(configuration, 'notification', workspace).filter(({ body }) =>
    channelsOf(body).some(
      ([on, said]) => on === channel && (said.template === template || body.cadence?.digest?.template === template),
    ),
  );
  return users.find(({ body }) => body.enabled !== false) ?? users[0];
}
