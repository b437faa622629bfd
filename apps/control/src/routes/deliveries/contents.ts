import {
  eventContentBody,
  deliveryContentBody,
  type EventContentBody,
  type DeliveryContentBody,
} from '@carillon/contracts';
import { formatInstant, stringifyJson } from '@carillon/kernel';
import {
  openEvent,
  openMessage,
  type EventContent,
  type EventContentPorts,
  type MessageContent,
  type MessageContentPorts,
} from '@carillon/insight';
import { z } from 'zod';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { audited } from '../../audit/facts.ts';
import { notFound, withIdAcross, type ApiServer } from '../app.ts';

const PLACE = z.string().regex(/^\d{1,9}$/, 'expected the `next` of the previous page');

const linesQuery = z.strictObject({
  position: z
    .string()
    .max(200)
    .optional()
    .describe('Which of several events under one id, by the position in its story'),
  limit: z.coerce.number().int().min(1).max(2000).default(500),
  cursor: PLACE.optional(),
});

const VARIABLES = 'variables';
const partQuery = z.strictObject({
  part: z.string().max(300).optional().describe('Only this part, from `cursor` on'),
  cursor: PLACE.optional(),
});

/** Characters of a part in one answer. */
const MAX_TEXT_CHARACTERS = 20_000;

export type ContentPorts = EventContentPorts & MessageContentPorts;

/** Routes for the contents of events and messages, for callers with the permission `bodies`. */
export function contentRoutes(app: ApiServer, ports: ContentPorts): void {
  app.get(
    '/v1/workspaces/:workspace/events/:id/content',
    {
      config: { permission: 'bodies', audit: 'content.read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'readEventContent',
        tags: ['Events'],
        summary: 'The body of an event, with the fields marked that rules and templates read',
        params: withIdAcross,
        querystring: linesQuery,
        response: { 200: eventContentBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { position, limit, cursor } = request.query;
      const place = { limit, from: Number(cursor ?? 0), ...(position !== undefined && { position }) };
      const content = await openEvent(id, place, ports);
      if (!content || !visibleScopeOf(request).sees(content.workspace)) throw notFound(`event ${id}`);
      audited(request, { workspace: content.workspace });
      return showEventContent(content);
    },
  );

  app.get(
    '/v1/workspaces/:workspace/deliveries/:id/content',
    {
      config: { permission: 'bodies', audit: 'content.read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'readDeliveryContent',
        tags: ['Deliveries'],
        summary: 'The message of a delivery, rendered again from the recorded data, with the answers of the provider',
        params: withIdAcross,
        querystring: partQuery,
        response: { 200: deliveryContentBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { part, cursor } = request.query;
      const content = await openMessage(id, ports);
      if (!content || !visibleScopeOf(request).sees(content.workspace)) throw notFound(`delivery ${id}`);
      audited(request, { workspace: content.workspace });
      return showMessageContent(content, part ?? null, Number(cursor ?? 0));
    },
  );
}

const showEventContent = ({ fields, lines, next, ...content }: EventContent): EventContentBody => ({
  id: content.id,
  stream: content.stream,
  at: formatInstant(content.at),
  bytes: content.bytes,
  position: content.position,
  config_number: content.configNumber,
  copies: content.copies,
  gone: content.gone,
  fields: fields.map(({ path, readBy, isThere }) => ({ path, read_by: [...readBy], is_there: isThere })),
  whole: [...content.whole],
  lines: lines.map(({ text, readBy }) => ({ text, read_by: [...readBy] })),
  next: next === null ? null : String(next),
});

function showMessageContent(content: MessageContent, part: string | null, from: number): DeliveryContentBody {
  const variables = { name: VARIABLES, text: stringifyJson(content.variables) };
  const all = [variables, ...content.parts].filter(({ name }) => part === null || name === part);
  return {
    id: content.deliveryId,
    channel: content.channel,
    to: content.to,
    template: content.template,
    template_version: content.templateVersion,
    config_number: content.configNumber,
    parts: all.map(({ name, text }) => ({ name, ...piece(text, from) })),
    missing: [...content.missing],
    notes: [...content.notes],
    problem: content.problem,
    replies: content.replies.map(({ attemptId, at, account, verdict, code, words, providerId }) => ({
      attempt: attemptId,
      at: formatInstant(at),
      account,
      verdict,
      code,
      words,
      provider_id: providerId,
    })),
  };
}

/** Cuts a text to the maximum of one response, without splitting a pair of surrogates. */
function piece(text: string, from: number): { text: string; characters: number; next: string | null } {
  let until = Math.min(text.length, from + MAX_TEXT_CHARACTERS);
  if (until < text.length && /[\ud800-\udbff]/.test(text.charAt(until - 1))) until -= 1;
  return { text: text.slice(from, until), characters: text.length, next: until < text.length ? String(until) : null };
}
