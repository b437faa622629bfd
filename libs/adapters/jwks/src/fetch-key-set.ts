import { err, type Result } from '@carillon/kernel';
import type { OutboundHttp } from '@carillon/ports';
import { readKeySet, type KeySet } from './key-set.ts';

export const MAX_BYTES = 256 * 1024;
const CONNECT_TIMEOUT_MS = 3000;
const TOTAL_TIMEOUT_MS = 5000;

/** Fetches and parses a key set. The error describes the problem without content of the response. */
export async function fetchKeySet(http: Pick<OutboundHttp, 'request'>, url: string): Promise<Result<KeySet, string>> {
  const answer = await http.request({
    method: 'GET',
    url,
    headers: { accept: 'application/jwk-set+json, application/json' },
    body: null,
    maxBytes: MAX_BYTES,
    connectTimeout: CONNECT_TIMEOUT_MS,
    totalTimeout: TOTAL_TIMEOUT_MS,
  });
  if (!answer.ok) return err(answer.error.detail);
  const { status, body } = answer.value;
  if (status !== 200) return err(`the answer has status ${status}; expected 200, and redirects are not followed`);
  return readKeySet(body);
}
