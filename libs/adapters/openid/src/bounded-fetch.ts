import type { OutboundFailure, OutboundHttp } from '@carillon/ports';
import type { CustomFetch } from 'openid-client';

/** Metadata, keys, tokens and user information are a few kilobytes. */
const MAX_BYTES = 256 * 1024;
const CONNECT_TIMEOUT_MS = 3000;
const TOTAL_TIMEOUT_MS = 5000;

/** A request that had no answer that can be read. */
export class NoAnswer extends Error {
  readonly failure: OutboundFailure;
  constructor(failure: OutboundFailure) {
    super(failure.detail);
    this.failure = failure;
  }
}

/** What the library asks, through the guard and within bounds of size and time. Redirects are answered, never followed. */
export const boundedFetch =
  (http: Pick<OutboundHttp, 'request'>, stop: AbortSignal): CustomFetch =>
  async (url, { method, headers, body }) => {
    const answer = await http.request({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers: Object.fromEntries(new Headers(headers)),
      body: body instanceof URLSearchParams || typeof body === 'string' ? String(body) : null,
      maxBytes: MAX_BYTES,
      connectTimeout: CONNECT_TIMEOUT_MS,
      totalTimeout: TOTAL_TIMEOUT_MS,
      signal: stop,
    });
    if (!answer.ok) throw new NoAnswer(answer.error);
    const { status, headers: answered, body: bytes } = answer.value;
    if (status >= 500) throw new NoAnswer({ reason: 'broken', detail: `the provider answered with status ${status}` });
    const isEmpty = status === 204 || status === 205 || status === 304;
    // A body that was compressed is not any more.
    const { 'content-encoding': _, 'content-length': __, ...kept } = answered;
    return new Response(isEmpty ? null : Buffer.from(bytes), { status, headers: kept });
  };
