import { err, type Duration, type Result } from '@carillon/kernel';
import { readKeySet, type KeySet } from './key-set.ts';

/**
 * HTTP as far as a key set needs it. Whoever makes it guards where it connects to: the address is a tenant's. It follows
 * no redirects, keeps to the bounds it is given, and never throws.
 */
export type KeySetHttp = {
  request(request: {
    readonly method: 'GET';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: null;
    readonly maxBytes: number;
    readonly connectTimeout: Duration;
    readonly totalTimeout: Duration;
  }): Promise<Result<{ readonly status: number; readonly body: Uint8Array }, { readonly detail: string }>>;
};

export const MOST_BYTES = 256 * 1024;
const CONNECT_TIMEOUT = 3000;
const TOTAL_TIMEOUT = 5000;

/** Fetches and reads a key set; the error says in words what was wrong, and nothing of what was answered. */
export async function fetchKeySet(http: KeySetHttp, url: string): Promise<Result<KeySet, string>> {
  const asked = http.request({
    method: 'GET',
    url,
    headers: { accept: 'application/jwk-set+json, application/json' },
    body: null,
    maxBytes: MOST_BYTES,
    connectTimeout: CONNECT_TIMEOUT,
    totalTimeout: TOTAL_TIMEOUT,
  });
  const answer = await asked.catch(() => null);
  if (!answer?.ok) return err(answer?.error.detail ?? 'the request could not be made');
  const { status, body } = answer.value;
  if (status !== 200) return err(`the answer has status ${status}; expected 200, and redirects are not followed`);
  if (body.length > MOST_BYTES) return err(`the answer is larger than ${MOST_BYTES} bytes`);
  return readKeySet(body);
}
