import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { problemOf } from '@carillon/contracts';
import { CarillonError } from '@carillon/kernel';

/**
 * Responds to malformed or late requests with a problem and closes the connection. Does nothing if a response has
 * already started.
 */
export function refuseMalformed(
  error: Error & { readonly code?: string },
  socket: Socket,
  begun: boolean,
  headers: Readonly<Record<string, string>> & { readonly 'x-request-id': string },
): void {
  if (!socket.writable || begun || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const answer = problemOf(malformedRequest(error.code), headers['x-request-id']);
  const body = JSON.stringify(answer.body);
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    ...Object.entries({ ...headers, ...answer.headers }).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon());
}

const DETAILS: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', 'The headers are too large. Send fewer or shorter ones.'],
  ['HPE_INVALID_METHOD', 'This is not HTTP/1.1, or the method is unknown.'],
]);

function malformedRequest(code: string | undefined): CarillonError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new CarillonError('request_timeout', 'The request did not arrive completely in time. Send it again.');
  }
  return new CarillonError('invalid_request', DETAILS.get(code) ?? 'This is not a valid HTTP/1.1 request.');
}
