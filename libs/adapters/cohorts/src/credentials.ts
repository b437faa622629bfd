import type { CohortProof, ShownCredentials, WebhookPlatform } from '@carillon/ports';

/** Returns the proof in a request of this platform, or null if it has none. */
export function proofOf(platform: WebhookPlatform, shown: ShownCredentials, body: Uint8Array): CohortProof | null {
  if (platform !== 'segment') return secretOf(shown.authorization);
  if (shown.signature === undefined) return null;
  return { kind: 'hmac_sha1', signature: shown.signature.trim().toLowerCase(), over: signedPart(body) };
}

/**
 * A token after Bearer is the secret. After Basic it is what people type into the forms of platforms: `user:password`
 * as a whole, the password alone, or a key as the name of the user with an empty password.
 */
function secretOf(authorization: string | undefined): CohortProof | null {
  const [, scheme, value] = /^(bearer|basic) +(\S+) *$/i.exec(authorization ?? '') ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() === 'bearer') return { kind: 'secret', candidates: [value] };
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return { kind: 'secret', candidates: [text] };
  const password = text.slice(colon + 1);
  return { kind: 'secret', candidates: [text, password === '' ? text.slice(0, colon) : password] };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** What Segment signs: the body, or of a batch the first element alone, as the bytes that were sent. */
export function signedPart(body: Uint8Array): Uint8Array {
  const start = afterSpace(body, 0);
  if (body[start] !== OPEN_LIST) return body;
  const from = afterSpace(body, start + 1);
  let depth = 0;
  for (let at = from; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfText(body, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) return trimmed(body, from, at);
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return body.subarray(from);
}

function afterSpace(body: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(body[at])) at += 1;
  return at;
}

function endOfText(body: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}

function trimmed(body: Uint8Array, from: number, to: number): Uint8Array {
  let end = to;
  while (end > from && isSpace(body[end - 1])) end -= 1;
  return body.subarray(from, end);
}
