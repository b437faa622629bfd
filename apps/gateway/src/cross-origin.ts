import type { EventStream } from '@carillon/domain/configuration';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Headers that a page of an allowed origin may send, and response headers that it may read. */
const CLOUD_EVENTS_HEADERS = ['specversion', 'id', 'source', 'type', 'subject', 'time', 'dataschema'];
const REQUEST_HEADERS = [
  'authorization, content-type, idempotency-key, traceparent',
  ...CLOUD_EVENTS_HEADERS.map((name) => `ce-${name}`),
].join(', ');
const ANSWER_HEADERS = 'retry-after, x-request-id';
const PREFLIGHT_SECONDS = '600';

/** Lets pages of the origins that the stream names see the answer; without any no page may. `*` stands for all. */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, stream: EventStream | undefined): boolean {
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  const named = stream?.cors_origins ?? [];
  if (origin === undefined || !(named.includes(origin) || named.includes('*'))) return false;
  reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', ANSWER_HEADERS);
  return true;
}

/** A browser's question before a request: carries no credential, and is answered alike for a path that does not exist. */
export function answerPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  stream: EventStream | undefined,
): FastifyReply {
  if (allowOrigin(request, reply, stream)) {
    reply
      .header('access-control-allow-methods', 'POST')
      .header('access-control-allow-headers', REQUEST_HEADERS)
      .header('access-control-max-age', PREFLIGHT_SECONDS);
  }
  return reply.header('allow', 'OPTIONS, POST').code(204).send();
}
