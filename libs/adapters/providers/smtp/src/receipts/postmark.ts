import { isDeadMailbox, providerWords, type Report } from '@carillon/domain/receipts';
import { ok, type Json } from '@carillon/kernel';
import type { Callback, Reading } from '../../../callbacks/callback.ts';
import { sameSecret } from '../../../callbacks/compare.ts';
import { readCallback, textAt, timeAt, unreadable } from '../../../callbacks/fields.ts';

/**
 * Returns true if a request presents the user and password of the webhook's URL, because Postmark signs nothing.
 * `credentials` has the form `user:password`.
 */
export function isFromPostmark({ headers }: Pick<Callback, 'headers'>, credentials: string): boolean {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(headers['authorization'] ?? '') ?? [];
  return encoded !== undefined && sameSecret(Buffer.from(encoded, 'base64').toString('utf8'), credentials);
}

/**
 * Reads one record: https://postmarkapp.com/developer/webhooks/webhooks-overview. `field` of the metadata contains the
 * token.
 */
export function readPostmark(body: Uint8Array, field = 'carillon'): Reading {
  const json = readCallback(body);
  if (!json.ok) return json;
  const record = json.value;
  const [kind, message] = [textAt(record, 'RecordType'), textAt(record, 'MessageID')];
  if (kind === '' || message === '') return unreadable('Postmark sends a record with RecordType and MessageID.');
  const type = textAt(record, 'Type');
  const words = [kind, type, textAt(record, 'Details') || textAt(record, 'Description')];
  return ok([
    {
      source: 'postmark',
      eventId: `${kind}:${textAt(record, 'ID') || message}`,
      token: textAt(record, 'Metadata', field) || null,
      ...classified(kind, type, textAt(record, 'Details')),
      code: providerWords(textAt(record, 'TypeCode')),
      detail: providerWords(words.filter((part) => part !== '').join(': ')),
      at: timeOf(record),
    },
  ]);
}

const timeOf = (record: Json): number | null => timeAt(record, 'DeliveredAt') ?? timeAt(record, 'BouncedAt');

type ClassifiedReport = Pick<Report, 'verdict' | 'suppress' | 'alert'>;
const NOTE: ClassifiedReport = { verdict: 'note', suppress: null, alert: false };
const BOUNCED: ClassifiedReport = { verdict: 'bounced', suppress: null, alert: false };

function classified(kind: string, type: string, answer: string): ClassifiedReport {
  if (kind === 'Delivery') return { ...NOTE, verdict: 'delivered' };
  if (kind === 'SpamComplaint') return { verdict: 'complained', suppress: 'complaint', alert: false };
  if (kind !== 'Bounce') return NOTE;
  const other = BOUNCE_TYPES.get(type);
  if (other) return other;
  const isDead = isDeadMailbox({ answer, status: '', reportedDead: DEAD_TYPES.has(type) });
  return isDead ? { ...BOUNCED, suppress: 'hard_bounce' } : BOUNCED;
}

/** Types that Postmark uses for mailboxes that do not exist. The answer of the mail server counts more. */
const DEAD_TYPES: ReadonlySet<string> = new Set(['HardBounce', 'BadEmailAddress']);

/** Types that say nothing of the mailbox: https://postmarkapp.com/developer/api/bounce-api#bounce-types */
const BOUNCE_TYPES: ReadonlyMap<string, ClassifiedReport> = new Map<string, ClassifiedReport>([
  ['SpamComplaint', { verdict: 'complained', suppress: 'complaint', alert: false }],
  ['Transient', NOTE],
  ['AutoResponder', NOTE],
  ['AddressChange', NOTE],
  ['ChallengeVerification', NOTE],
  ['OpenRelayTest', NOTE],
  ['Subscribe', NOTE],
  ['Unsubscribe', NOTE],
  ['DnsError', { ...BOUNCED, alert: true }],
  ['DMARCPolicy', { ...BOUNCED, alert: true }],
  ['Blocked', { ...BOUNCED, alert: true }],
  ['SpamNotification', { ...BOUNCED, alert: true }],
  ['SMTPApiError', { ...BOUNCED, alert: true }],
  ['TemplateRenderingFailed', { ...BOUNCED, alert: true }],
]);
