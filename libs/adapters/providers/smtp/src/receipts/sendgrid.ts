import { isDeadMailbox, providerWords, type Report } from '@carillon/domain/receipts';
import { ok, type Instant, type Json } from '@carillon/kernel';
import { createPublicKey, verify } from 'node:crypto';
import { isRecent, type Callback, type Reading } from '../../../callbacks/callback.ts';
import { MAX_REPORTS, readCallback, textAt, timeAt, tooMany, unreadable } from '../../../callbacks/fields.ts';

/**
 * Whether SendGrid signed this request: ECDSA on P-256 with SHA-256 over time stamp and body as they came. `publicKey` is
 * what SendGrid's page shows: base64 of the key in DER. A key that is none proves nothing.
 */
export function isFromSendGrid({ headers, body }: Callback, publicKey: string, now: Instant): boolean {
  const timestamp = headers['x-twilio-email-event-webhook-timestamp'];
  const signature = headers['x-twilio-email-event-webhook-signature'];
  if (timestamp === undefined || signature === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  if (!isRecent(Number(timestamp) * 1000, now)) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return false;
    return verify('sha256', Buffer.concat([Buffer.from(timestamp), body]), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

/** A list of events: https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event. `field` holds the token. */
export function readSendGrid(body: Uint8Array, field = 'carillon'): Reading {
  const json = readCallback(body);
  if (!json.ok) return json;
  if (!Array.isArray(json.value)) return unreadable('SendGrid sends a list of events.');
  const events = json.value as readonly Json[];
  if (events.length > MAX_REPORTS) return tooMany();
  return ok(events.map((event) => reportOf(event, field)));
}

function reportOf(event: Json, field: string): Report {
  const kind = textAt(event, 'event');
  const id = textAt(event, 'sg_event_id');
  const reason = textAt(event, 'reason') || textAt(event, 'response');
  const type = textAt(event, 'type');
  return {
    source: 'sendgrid',
    eventId: id === '' ? `${textAt(event, 'sg_message_id')}:${kind}:${textAt(event, 'timestamp')}` : id,
    token: textAt(event, field) || null,
    ...classified(event, kind, type),
    code: providerWords(textAt(event, 'status')),
    detail: providerWords([kind, type, reason].filter((part) => part !== '').join(': ')),
    at: timeAt(event, 'timestamp'),
  };
}

type ClassifiedReport = Pick<Report, 'verdict' | 'suppress' | 'alert'>;
const NOTE: ClassifiedReport = { verdict: 'note', suppress: null, alert: false };
const BOUNCED: ClassifiedReport = { verdict: 'bounced', suppress: null, alert: false };

function classified(event: Json, kind: string, type: string): ClassifiedReport {
  switch (kind) {
    case 'delivered':
      return { ...NOTE, verdict: 'delivered' };
    case 'spamreport':
      return { verdict: 'complained', suppress: 'complaint', alert: false };
    case 'bounce':
      // A blocked message says something of us or of this mail; only a bounce proper says something of the mailbox.
      return type === 'blocked' || !isDead(event) ? BOUNCED : { ...BOUNCED, suppress: 'hard_bounce' };
    case 'dropped':
      return DROPPED.get(textAt(event, 'reason').toLowerCase()) ?? BOUNCED;
    default:
      return NOTE;
  }
}

const isDead = (event: Json): boolean =>
  isDeadMailbox({
    answer: textAt(event, 'reason'),
    status: textAt(event, 'status'),
    reportedDead: textAt(event, 'bounce_classification').toLowerCase() === 'invalid address',
  });

/** SendGrid did not try, because of a list of its own. */
const DROPPED: ReadonlyMap<string, ClassifiedReport> = new Map([
  ['bounced address', { ...BOUNCED, suppress: 'hard_bounce' }],
  ['invalid', { ...BOUNCED, suppress: 'hard_bounce' }],
  ['spam reporting address', { ...BOUNCED, suppress: 'complaint' }],
]);
