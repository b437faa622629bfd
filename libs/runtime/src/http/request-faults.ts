import type { IncomingMessage } from 'node:http';
import { CarillonError, isCarillonError, type Duration } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import { formatBytes, type HttpLimits } from './http-limits.ts';

/** Error of the framework, with the fields that are read here. */
type FrameworkError = { readonly code?: unknown; readonly statusCode?: unknown; readonly validation?: unknown };

/**
 * Maps an error of a request to a code of the error table. Messages of the framework and of unexpected errors are not
 * passed on, because they may quote the request.
 */
export function requestFault(error: unknown, limits: HttpLimits): CarillonError {
  if (isCarillonError(error)) return error;
  const { code, statusCode } = (typeof error === 'object' && error !== null ? error : {}) as FrameworkError;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(limits.maxBodyBytes);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new CarillonError('unsupported_media_type', 'Send the body with Content-Type: application/json.');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      // The framework says the same of both.
      return new CarillonError(
        'invalid_json',
        'The body is not valid JSON, or a field in it is named __proto__ or constructor. Send one JSON value without these.',
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new CarillonError('invalid_request', 'The length of the body differs from Content-Length.');
    case 'FST_ERR_BAD_URL':
      return new CarillonError('invalid_request', 'The path is not valid percent-encoded UTF-8.');
    default:
      break;
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new CarillonError('invalid_request', 'The request could not be read.', {}, { cause: error });
  }
  return new CarillonError('internal', 'The server log has details under this request id.', {}, { cause: error });
}

/**
 * Whether a request names its host once: two programs that each take another one of several disagree about whom it is for.
 * HTTP/1.0 may leave it out. Of several, Node shows the first one alone as `headers.host`.
 */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

export function bodyTooLarge(bytes: number): CarillonError {
  const limit = formatBytes(bytes);
  return new CarillonError('body_too_large', `The body can have at most ${limit}. Send less in one request.`, {
    limit,
  });
}

/** The error for a request that was not answered in time. Whether its body has come shows whose fault that is. */
export const lateRequest = (request: FastifyRequest, span: Duration): CarillonError =>
  request.raw.complete ? unfinished(span) : lateBody(span);

function lateBody(span: Duration): CarillonError {
  const limit = `${span / 1000} s`;
  return new CarillonError('request_timeout', `The body must arrive within ${limit}. Send it again.`, { limit });
}

function unfinished(span: Duration): CarillonError {
  const detail =
    `It was not done within ${span / 1000} s; whether it will be is unknown. ` +
    'Repeat it with the same Idempotency-Key, if it had one.';
  return new CarillonError('overloaded', detail);
}
