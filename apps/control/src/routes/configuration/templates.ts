import {
  missingVariablesBody,
  templatePreviewBody,
  type MissingVariablesBody,
  type TemplatePreviewBody,
} from '@carillon/contracts';
import { CHANNEL_NAMES, channelsOf, templateOf, type ChannelName } from '@carillon/domain/channels';
import {
  findResource,
  listResources,
  LOCALITY_VARIABLES,
  notificationIdOf,
  type Configuration,
  type Resource,
} from '@carillon/domain/configuration';
import { EVENT_LIMITS, readEvent } from '@carillon/domain/events';
import { missingVariables } from '@carillon/insight';
import { CarillonError, formatInstant, isLocale, isTimeZone, type JsonObject } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { configurationTried } from '../../drafts/with-drafts.ts';
import type { PlanningPorts, RoutePorts } from '../../ports.ts';
import { isTemplateOfDigest, sampledAsDigest } from '../../digest-samples.ts';
import { previewMessage, type PreviewPorts } from '../../preview.ts';
import { notFound, oneOfWords, withName, type ApiServer } from '../app.ts';
import { eventOnLog } from '../../rule-tests/tried-events.ts';

/** An event that is not on the log, and in whose language and at whose clock a template is rendered with it. */
export const renderedWith = {
  event: z
    .string()
    .max(EVENT_LIMITS.bytes)
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
 * Returns the variables for rendering. Throws like the event intake, and `invalid_request` for an unknown locale or
 * time zone: unlike in event data, it was typed by the caller.
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
    if (!IS_ONE[name](said))
      throw new CarillonError(
        'invalid_request',
        `${name}: ${said} is not a known ${name === 'locale' ? 'language' : 'time zone'}`,
      );
    own[name] = said;
  }
  return own;
}

const previewRequest = z.strictObject({
  ...renderedWith,
  event: renderedWith.event.optional(),
  event_id: z.string().max(100).optional().describe('Instead of it: an event that is on the log'),
  channel: oneOfWords('channel', CHANNEL_NAMES).optional().describe('Defaults to all of the template'),
  items: z
    .int()
    .min(0)
    .max(500)
    .optional()
    .describe(
      'Items of the digest to render, each from the event; 0 renders one message. Defaults to 3 for a template of digests',
    ),
  drafts: z
    .boolean()
    .default(false)
    .describe('As it is with the drafts of the workspace: of the template, of its layout and of partials'),
});
type PreviewRequest = z.infer<typeof previewRequest>;

const missingQuery = z.strictObject({
  channel: oneOfWords('channel', CHANNEL_NAMES).optional().describe('Defaults to all of the template'),
  drafts: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: as it is with the drafts of the workspace, those of rules among them'),
});

export type TemplatePorts = PreviewPorts &
  PlanningPorts &
  Pick<RoutePorts, 'book' | 'clock' | 'configuration' | 'templates' | 'drafts' | 'log' | 'readModels' | 'slice'>;

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
    async (request) => previewTemplate(request.params, request.body, request, ports),
  );
  app.get(
    '/v1/workspaces/:workspace/templates/:name/missing',
    {
      config: { permission: 'read', problems: ['not_found', 'invalid_request', 'invalid_configuration'] },
      schema: {
        operationId: 'listMissingVariables',
        tags: ['Templates'],
        summary: 'Variables that the messages of a template would lack, over the newest 1,000 events of its streams',
        params: withName,
        querystring: missingQuery,
        response: { 200: missingVariablesBody },
      },
    },
    async (request) => countMissing(request.params, request.query, visibleScopeOf(request), ports),
  );
}

/**
 * Counts missing variables. Throws `not_found`, and `invalid_configuration` for a draft with mistakes. Returns names
 * and event numbers without event contents.
 */
async function countMissing(
  { workspace, name }: z.infer<typeof withName>,
  { channel, drafts }: z.infer<typeof missingQuery>,
  sight: VisibleScope,
  ports: TemplatePorts,
): Promise<MissingVariablesBody> {
  const configuration = await configurationTried({ kind: 'template', name }, drafts === 'true', sight, ports);
  const found = templateWith(configuration, workspace, name, channel);
  const counted = { workspace, template: name, channels: found.channels };
  const { since, variables, ...counts } = await missingVariables(counted, configuration, ports);
  return {
    template: name,
    version: found.template.version,
    ...counts,
    since: since === null ? null : formatInstant(since),
    variables: variables.map(({ eventId, ...one }) => ({ ...one, event_id: eventId })),
  };
}

/** A template and the channels that are asked about. Throws `not_found`, and `invalid_request` for a channel that it has nothing for. */
function templateWith(
  configuration: Configuration,
  workspace: string,
  name: string,
  channel: ChannelName | undefined,
): { readonly template: Resource<'template'>; readonly channels: readonly ChannelName[] } {
  const template = findResource(configuration, 'template', workspace, name);
  if (!template) throw notFound(`template ${name} in workspace ${workspace}`);
  const channels = CHANNEL_NAMES.filter((one) => templateOf(template.body, one));
  if (channel === undefined) return { template, channels };
  if (channels.includes(channel)) return { template, channels: [channel] };
  throw new CarillonError('invalid_request', `channel: template ${name} has ${channels.join(', ')} alone`);
}

/**
 * Renders a template with an event, on each of its channels. Throws `not_found`, `invalid_request`,
 * `invalid_configuration` for a draft with mistakes, and `forbidden_role` if the caller may not see the content of a
 * named event.
 */
export async function previewTemplate(
  { workspace, name }: z.infer<typeof withName>,
  asked: PreviewRequest,
  request: FastifyRequest,
  ports: TemplatePorts,
): Promise<TemplatePreviewBody> {
  const configuration = await configurationTried(
    { kind: 'template', name },
    asked.drafts,
    visibleScopeOf(request),
    ports,
  );
  const { template, channels } = templateWith(configuration, workspace, name, asked.channel);
  const variables = await variablesToTry(asked, request, ports);
  const messages = [];
  const renderedBy = { ...ports, configuration: { current: () => configuration } };
  for (const channel of channels) {
    const notification = userOf(configuration, workspace, name, channel);
    const notificationId = notification ? notificationIdOf(notification) : `template:${name}`;
    const isOfDigest = isTemplateOfDigest(configuration, workspace, name, channel);
    const sampled = sampledAsDigest(variables, asked.items, isOfDigest, ports.clock.now());
    const shown = { workspace, template: name, channel, notification, notificationId, ...sampled };
    messages.push(await previewMessage(shown, renderedBy));
  }
  return { template: name, version: template.version, messages };
}

/** Returns the variables of the event in the request, or of the named event on the log. */
async function variablesToTry(
  { event, event_id: id, ...asked }: PreviewRequest,
  request: FastifyRequest,
  ports: Pick<RoutePorts, 'log' | 'readModels'>,
): Promise<JsonObject> {
  if ((event === undefined) === (id === undefined)) {
    throw new CarillonError('invalid_request', 'event: give the event, or the event_id of one that is on the log');
  }
  if (id === undefined) return variablesOf({ ...asked, event: event ?? '' });
  const { body } = await eventOnLog(id, request, ports);
  return { ...body, ...localityIn(asked) };
}

/**
 * Returns the first notification that sends this template, preferably an enabled one. It decides the sender of an
 * email, and the messages that its links stop.
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
