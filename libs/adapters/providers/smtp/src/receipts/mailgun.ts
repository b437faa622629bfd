import { isDeadMailbox, providerWords, statusIn, type MailRefusal, type Report } from '@carillon/domain/receipts';
import { ok, type Instant, type Json } from '@carillon/kernel';
import { createHmac } from 'node:crypto';
import { isRecent, type Reading } from '../../../callbacks/callback.ts';
import { sameSecret } from '../../../callbacks/compare.ts';
import { readCallback, textAt, timeAt, unreadable, valueAt } from '../../../callbacks/fields.ts';

/**
 * Returns the nonce of a callback signed by Mailgun: HMAC-SHA256 over time stamp and token, in hex. The signature does
 * not cover the event, so a seen signature could be reused; therefore each nonce counts once. Null if the signature is
 * wrong.
 */
export function mailgunNonce(body: Uint8Array, signingKey: string, now: Instant): string | null {
  const json = readCallback(body);
  if (!json.ok) return null;
  const [timestamp, token, shown] = ['timestamp', 'token', 'signature'].map((name) =>
    textAt(json.value, 'signature', name),
  ) as [string, string, string];
  if (timestamp === '' || token === '' || token.length > 100) return null;
  const expected = createHmac('sha256', signingKey)
    .update(timestamp + token)
    .digest('hex');
  if (!sameSecret(shown.toLowerCase(), expected)) return null;
  return isRecent(timeAt(json.value, 'signature', 'timestamp'), now) ? token : null;
}

/**
 * Reads one event: https://documentation.mailgun.com/docs/mailgun/user-manual/events/events. `field` contains the
 * token.
 */
export function readMailgun(body: Uint8Array, field = 'carillon'): Reading {
  const json = readCallback(body);
  if (!json.ok) return json;
  const event = valueAt(json.value, 'event-data');
  const [id, kind] = [textAt(event, 'id'), textAt(event, 'event')];
  if (id === '' || kind === '') return unreadable('Mailgun sends event-data with the fields id and event.');
  const [status, reply] = [textAt(event, 'delivery-status', 'enhanced-code'), textAt(event, 'delivery-status', 'code')];
  const words = textAt(event, 'delivery-status', 'message') || textAt(event, 'delivery-status', 'description');
  const answer = /^[45]\d\d\b/.test(words) ? words : `${reply} ${words}`;
  const parts = [kind, textAt(event, 'severity'), textAt(event, 'reason'), words];
  return ok([
    {
      source: 'mailgun',
      eventId: id,
      token: textAt(event, 'user-variables', field) || null,
      ...classified(event, kind, { answer, status }),
      code: providerWords(statusIn(answer) || status || reply),
      detail: providerWords(parts.filter((part) => part !== '').join(': ')),
      at: timeAt(event, 'timestamp'),
    },
  ]);
}

type ClassifiedReport = Pick<Report, 'verdict' | 'suppress' | 'alert'>;
const NOTE: ClassifiedReport = { verdict: 'note', suppress: null, alert: false };

function classified(event: Json | undefined, kind: string, refusal: MailRefusal): ClassifiedReport {
  if (kind === 'delivered') return { ...NOTE, verdict: 'delivered' };
  if (kind === 'complained') return { verdict: 'complained', suppress: 'complaint', alert: false };
  if (kind === 'rejected') return { verdict: 'bounced', suppress: null, alert: true };
  // A temporary failure is tried again by Mailgun.
  if (kind !== 'failed' || textAt(event, 'severity') === 'temporary') return NOTE;
  return { verdict: 'bounced', suppress: suppressionOf(textAt(event, 'reason'), refusal), alert: false };
}

function suppressionOf(reason: string, refusal: MailRefusal): Report['suppress'] {
  if (reason === 'suppress-complaint') return 'complaint';
  return reason === 'suppress-bounce' || isDeadMailbox(refusal) ? 'hard_bounce' : null;
}
