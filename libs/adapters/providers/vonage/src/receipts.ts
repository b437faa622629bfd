import { canonicalPhone } from '@carillon/domain/channels';
import { stopWordOf } from '@carillon/domain/consent';
import { providerWords, type Report, type ReportVerdict } from '@carillon/domain/receipts';
import { ok, type Instant, type Json, type Result } from '@carillon/kernel';
import type { CarillonError } from '@carillon/kernel';
import type { Clock, ReceiptCallback, ReceiptReaders, ReceiptReading } from '@carillon/ports';
import { createHash, createHmac } from 'node:crypto';
import { isRecent } from '../../callbacks/callback.ts';
import { sameSecret } from '../../callbacks/compare.ts';
import { readCallback, textAt, timeAt, unreadable } from '../../callbacks/fields.ts';
import { CODES } from './outcome-table.ts';
import { readProblem } from './problem.ts';

const jsonOf = (part: string): Json | undefined => {
  const read = readCallback(Buffer.from(part, 'base64url'));
  return read.ok ? read.value : undefined;
};

export type VonageProof = { readonly secret: string; readonly applicationId: string; readonly now: Instant };

/**
 * Returns true if Vonage signed this callback: the `Authorization` header is a JWT by HMAC-SHA256 under the signature secret, and its
 * claim `payload_hash` is the SHA-256 of the body. Vonage calls the hash optional; here it is required, because a token without
 * it could be sent again with another body. https://developer.vonage.com/en/getting-started/concepts/webhooks
 */
export function isFromVonage(
  { headers, body }: Pick<ReceiptCallback, 'headers' | 'body'>,
  { secret, applicationId, now }: VonageProof,
): boolean {
  const [, head, claims, signature] =
    /^bearer +([\w-]+)\.([\w-]+)\.([\w-]+) *$/i.exec(headers['authorization'] ?? '') ?? [];
  // Anybody can sign with an empty secret.
  if (head === undefined || claims === undefined || signature === undefined || secret === '') return false;
  const expected = createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url');
  if (!sameSecret(signature, expected) || textAt(jsonOf(head), 'alg') !== 'HS256') return false;
  const read = jsonOf(claims);
  const application = textAt(read, 'application_id');
  return (
    sameSecret(textAt(read, 'payload_hash').toLowerCase(), createHash('sha256').update(body).digest('hex')) &&
    (application === '' || application.toLowerCase() === applicationId.toLowerCase()) &&
    isRecent(timeAt(read, 'iat'), now)
  );
}

/** https://developer.vonage.com/en/messages/concepts/messages-status-callbacks. Any other status is a note. */
const STATUSES: ReadonlyMap<string, ReportVerdict> = new Map([
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['rejected', 'bounced'],
  ['undeliverable', 'bounced'],
]);

/** Reads a status callback. The receipt token is in the path of its address. */
export function readVonageStatus(json: Json, token: string | null): Result<Report, CarillonError> {
  const [id, status] = [textAt(json, 'message_uuid'), textAt(json, 'status').toLowerCase()];
  if (id === '' || status === '') return unreadable('A status callback has the fields message_uuid and status.');
  const verdict = STATUSES.get(status) ?? 'note';
  const error = (json as { readonly error?: Json }).error;
  const { code, detail } = readProblem(error);
  const row = verdict === 'bounced' ? CODES.get(code) : undefined;
  return ok({
    source: 'vonage',
    eventId: `${id}:${status}`,
    token,
    verdict,
    suppress: row?.outcome.suppress ?? null,
    alert: row?.outcome.alert ?? false,
    code: providerWords(code),
    detail: providerWords([status, row?.words, detail].filter(Boolean).join(': ')),
    at: timeAt(json, 'timestamp'),
  });
}

/** Reads a message that a person sent to a number of the account. Only STOP and START count. */
function readInbound(json: Json): ReceiptReading {
  const [eventId, from, channel] = [textAt(json, 'message_uuid'), textAt(json, 'from'), textAt(json, 'channel')];
  if (eventId === '' || from === '') {
    return { kind: 'proved', reports: unreadable('An inbound message has the fields message_uuid and from.') };
  }
  const word = channel === 'sms' ? stopWordOf({ optOutType: null, body: textAt(json, 'text') }) : null;
  const address = canonicalPhone(`+${from.replace(/^\+/, '')}`);
  const wish = word === null || word === 'help' || address === null ? null : word;
  return { kind: 'inbound', wish: wish && address ? { source: 'vonage', eventId, address, wish } : null };
}

/** Reads a proved callback. One with a token or a `status` reports on a message; any other is an inbound message. */
export function readVonage({ body, token }: Pick<ReceiptCallback, 'body' | 'token'>): ReceiptReading {
  const json = readCallback(body);
  if (!json.ok) return { kind: 'proved', reports: json };
  if (token === null && textAt(json.value, 'status') === '') return readInbound(json.value);
  const report = readVonageStatus(json.value, token);
  return { kind: 'proved', reports: report.ok ? ok([report.value]) : report };
}

/** Proves callbacks by the signature of Vonage, and reads them. */
export const createVonageReceiptReader = ({ clock }: { readonly clock: Clock }): ReceiptReaders => ({
  async read(callback, account, secret) {
    if (account.kind !== 'vonage' || secret === null) return { kind: 'unproved' };
    const proof = { secret, applicationId: account.application_id, now: clock.now() };
    return isFromVonage(callback, proof) ? readVonage(callback) : { kind: 'unproved' };
  },
});
