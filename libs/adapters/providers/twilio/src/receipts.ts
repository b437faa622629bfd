import { canonicalPhone } from '@carillon/domain/channels';
import { stopWordOf } from '@carillon/domain/consent';
import { providerWords, type Report, type ReportVerdict } from '@carillon/domain/receipts';
import { CarillonError, err, ok, type Result } from '@carillon/kernel';
import type { ReceiptCallback, ReceiptReaders, ReceiptReading } from '@carillon/ports';
import { createHmac } from 'node:crypto';
import { sameSecret } from '../../callbacks/compare.ts';

/**
 * Returns true if Twilio signed this request with the account's auth token: `X-Twilio-Signature` is an HMAC-SHA1 over the public
 * address and all fields of the form, sorted by name, name and value behind each other. Twilio's servers sign the address with
 * or without its port, so both count. https://www.twilio.com/docs/usage/security#validating-requests
 */
export function isFromTwilio(
  { url, headers, body }: Pick<ReceiptCallback, 'url' | 'headers' | 'body'>,
  authToken: string,
): boolean {
  const shown = headers['x-twilio-signature'];
  // An empty secret proves nothing: anybody could sign with that one.
  if (shown === undefined || url === null || authToken === '') return false;
  const fields = [...new URLSearchParams(Buffer.from(body).toString('utf8'))];
  const sorted = [...new Map(fields.map((field) => [field.join('\0'), field])).values()].toSorted(byNameAndValue);
  const form = sorted.map(([name, value]) => name + value).join('');
  return spellingsOf(url).some((spelling) =>
    sameSecret(
      shown,
      createHmac('sha1', authToken)
        .update(spelling + form, 'utf8')
        .digest('base64'),
    ),
  );
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };

/** An address without its port and with it; the port of its scheme if it names none. The rest stays as it was sent. */
function spellingsOf(url: string): readonly string[] {
  const [, scheme, host, port, rest] = /^(https?):\/\/(\[[^\]]*\]|[^/?#:]*)(?::(\d+))?(.*)$/s.exec(url) ?? [];
  if (scheme === undefined || host === undefined) return [url];
  const name = `${scheme}://${host}`;
  return [`${name}${rest}`, `${name}:${port ?? DEFAULT_PORTS[scheme]}${rest}`];
}

/** By code units, as Twilio sorts; of a name that comes twice the values are sorted too. */
function byNameAndValue(a: readonly [string, string], b: readonly [string, string]): number {
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1;
  return a[1] === b[1] ? 0 : a[1] < b[1] ? -1 : 1;
}

type StatusRow = { readonly verdict: ReportVerdict; readonly words: string };

/** https://www.twilio.com/docs/messaging/guides/track-outbound-message-status; a status that is not here is a note. */
const STATUSES: ReadonlyMap<string, StatusRow> = new Map<string, StatusRow>([
  ['delivered', { verdict: 'delivered', words: 'delivered' }],
  ['read', { verdict: 'delivered', words: 'read' }],
  ['undelivered', { verdict: 'bounced', words: 'not delivered' }],
  ['failed', { verdict: 'bounced', words: 'not delivered' }],
]);

type CodeRow = Partial<Pick<Report, 'suppress' | 'alert'>> & { readonly words: string };

/** Codes that arrive by callback after Twilio accepted the message (docs/internals/provider-outcomes.md). */
export const TWILIO_CALLBACK_CODES: ReadonlyMap<string, CodeRow> = new Map<string, CodeRow>([
  ['21610', { suppress: 'stop', words: 'the number has said STOP' }],
  ['30001', { words: 'the queue was full; Twilio had accepted it, so it is not sent again by itself' }],
  ['30002', { alert: true, words: 'the Twilio account is suspended' }],
  ['30003', { words: 'the phone could not be reached' }],
  ['30004', { words: 'the number blocks such messages' }],
  ['30005', { suppress: 'hard_bounce', words: 'no such number' }],
  ['30006', { suppress: 'hard_bounce', words: 'a landline, or a carrier that takes no SMS' }],
  ['30007', { alert: true, words: 'the carrier filtered it' }],
  ['30008', { words: 'unknown error at the carrier' }],
  ['30034', { alert: true, words: 'the sender is not registered (A2P 10DLC)' }],
]);

/** A status callback. The token stands in the path, where the router finds it. */
export function readTwilioStatus(body: Uint8Array, token: string | null): Result<Report, CarillonError> {
  const fields = new URLSearchParams(Buffer.from(body).toString('utf8'));
  const id = fields.get('MessageSid') ?? fields.get('SmsSid') ?? '';
  const status = (fields.get('MessageStatus') ?? fields.get('SmsStatus') ?? '').toLowerCase();
  if (id === '' || status === '') {
    return err(new CarillonError('invalid_request', 'A status callback has the fields MessageSid and MessageStatus.'));
  }
  const { verdict, words } = STATUSES.get(status) ?? { verdict: 'note' as const, words: status };
  const code = fields.get('ErrorCode') ?? '';
  const row = verdict === 'bounced' ? TWILIO_CALLBACK_CODES.get(code) : undefined;
  return ok({
    source: 'twilio',
    eventId: `${id}:${status}`,
    token,
    verdict,
    suppress: row?.suppress ?? null,
    alert: row?.alert ?? false,
    code: providerWords(code),
    detail: providerWords([words, row?.words, fields.get('ErrorMessage')].filter(Boolean).join(': ')),
    at: null,
  });
}

/**
 * Reads a verified callback of Twilio. At an address with a token it is a status. Without a token it is a message from
 * a person, or the status of a message that the account sent outside Carillon.
 */
function readTwilio({ body, token }: Pick<ReceiptCallback, 'body' | 'token'>): ReceiptReading {
  const status = new URLSearchParams(Buffer.from(body).toString('utf8')).get('MessageStatus') ?? 'received';
  if (token !== null || status !== 'received') {
    const report = readTwilioStatus(body, token);
    return { kind: 'proved', reports: report.ok ? ok([report.value]) : report };
  }
  const message = readTwilioInbound(body);
  if (!message.ok) return { kind: 'proved', reports: message };
  const { eventId, from, wish } = message.value;
  const address = canonicalPhone(from);
  return { kind: 'inbound', wish: wish && address ? { source: 'twilio', eventId, address, wish } : null };
}

/** A message that somebody sent to one of our numbers. */
export type InboundSms = {
  readonly eventId: string;
  /** Sender and recipient in E.164, as Twilio writes them. Our number may be a short code. */
  readonly from: string;
  readonly to: string;
  readonly messagingService: string | null;
  readonly wish: 'stop' | 'start' | null;
};

/**
 * Reads a message from a person. `OptOutType` is Twilio's own classification with Advanced Opt-Out, and takes
 * precedence.
 */
export function readTwilioInbound(body: Uint8Array): Result<InboundSms, CarillonError> {
  const fields = new URLSearchParams(Buffer.from(body).toString('utf8'));
  const [eventId, from, to] = [fields.get('MessageSid') ?? '', fields.get('From') ?? '', fields.get('To') ?? ''];
  if (eventId === '' || from === '' || to === '') {
    return err(new CarillonError('invalid_request', 'An inbound message has the fields MessageSid, From and To.'));
  }
  return ok({ eventId, from, to, messagingService: fields.get('MessagingServiceSid'), wish: wishOf(fields) });
}

/** HELP is answered by Twilio, and asks nothing of us. */
function wishOf(fields: URLSearchParams): InboundSms['wish'] {
  const word = stopWordOf({ optOutType: fields.get('OptOutType'), body: fields.get('Body') ?? '' });
  return word === 'help' ? null : word;
}

/** Proves by the signature of Twilio, and reads what it reports. */
export const createTwilioReceiptReader = (): ReceiptReaders => ({
  read: async (callback, _account, authToken) =>
    authToken !== null && isFromTwilio(callback, authToken) ? readTwilio(callback) : { kind: 'unproved' },
});
