import { isDeadMailbox, providerWords, type Report } from '@carillon/domain/receipts';
import { ok, type CarillonError, type Json, type Result } from '@carillon/kernel';
import type { Reading } from '../../../callbacks/callback.ts';
import { listAt, readCallback, textAt, timeAt, unreadable } from '../../../callbacks/fields.ts';
import type { SnsMessage } from './sns.ts';

/**
 * Reads a message that SES published to the topic: an event of a configuration set (`eventType`) or a feedback
 * notification of an identity (`notificationType`). Only the first has tags, and so the token.
 * https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
 */
export function readSes(message: SnsMessage, tag = 'carillon'): Reading {
  const json: Result<Json, CarillonError> = readCallback(Buffer.from(message.text));
  if (!json.ok) return json;
  const event = json.value;
  const kind = textAt(event, 'eventType') || textAt(event, 'notificationType');
  if (kind === '') return unreadable('SES sends a message with eventType or notificationType.');
  const { part, words, status } = partOf(event, kind);
  return ok([
    {
      source: 'ses',
      eventId: message.id,
      token: textAt(event, 'mail', 'tags', tag, 0) || null,
      ...classified(event, kind),
      code: providerWords(status),
      detail: providerWords([kind, ...words].filter((each) => each !== '').join(': ')),
      at: timeAt(event, part, 'timestamp') ?? timeAt(event, 'mail', 'timestamp'),
    },
  ]);
}

type Part = { readonly part: string; readonly words: readonly string[]; readonly status: string };

/** Each message has one recipient, so the first listed recipient is used. */
function partOf(event: Json, kind: string): Part {
  switch (kind) {
    case 'Bounce': {
      const [recipient] = listAt(event, 'bounce', 'bouncedRecipients');
      const types = [textAt(event, 'bounce', 'bounceType'), textAt(event, 'bounce', 'bounceSubType')];
      return {
        part: 'bounce',
        words: [...types, textAt(recipient, 'diagnosticCode')],
        status: textAt(recipient, 'status'),
      };
    }
    case 'Complaint':
      return { part: 'complaint', words: [textAt(event, 'complaint', 'complaintFeedbackType')], status: '' };
    case 'Delivery':
      return { part: 'delivery', words: [textAt(event, 'delivery', 'smtpResponse')], status: '' };
    case 'DeliveryDelay':
      return { part: 'deliveryDelay', words: [textAt(event, 'deliveryDelay', 'delayType')], status: '' };
    case 'Reject':
      return { part: 'reject', words: [textAt(event, 'reject', 'reason')], status: '' };
    case 'Rendering Failure':
      return { part: 'failure', words: [textAt(event, 'failure', 'errorMessage')], status: '' };
    default:
      return { part: 'mail', words: [], status: '' };
  }
}

type ClassifiedReport = Pick<Report, 'verdict' | 'suppress' | 'alert'>;
const NOTE: ClassifiedReport = { verdict: 'note', suppress: null, alert: false };
const BOUNCED: ClassifiedReport = { verdict: 'bounced', suppress: null, alert: false };

function classified(event: Json, kind: string): ClassifiedReport {
  switch (kind) {
    case 'Delivery':
      return { ...NOTE, verdict: 'delivered' };
    case 'Complaint':
      return complaint(textAt(event, 'complaint', 'complaintFeedbackType'));
    case 'Bounce':
      return bounce(event);
    case 'Reject':
    case 'Rendering Failure':
      return { ...BOUNCED, alert: true };
    default:
      return NOTE;
  }
}

/** RFC 5965: `not-spam` takes a complaint back, and the others are no complaint about the sender. */
const complaint = (type: string): ClassifiedReport =>
  type === 'not-spam' || type === 'auth-failure' || type === 'virus'
    ? NOTE
    : { verdict: 'complained', suppress: 'complaint', alert: false };

/** Subtypes by which SES itself has an address on a list of addresses that bounced. It sends nothing to them. */
const LISTED: ReadonlySet<string> = new Set(['Suppressed', 'OnAccountSuppressionList']);

/**
 * SES reports an out-of-office reply as a bounce that is not permanent, of a general kind, and without status, action and
 * answer of a mail server. The message arrived.
 */
const isAutoReply = (type: string, subtype: string, recipient: Json | undefined): boolean =>
  (type === 'Transient' || type === 'Undetermined') &&
  ['', 'General', 'Undetermined'].includes(subtype) &&
  ['action', 'status', 'diagnosticCode'].every((field) => textAt(recipient, field) === '');

function bounce(event: Json): ClassifiedReport {
  const [type, subtype] = [textAt(event, 'bounce', 'bounceType'), textAt(event, 'bounce', 'bounceSubType')];
  const [recipient] = listAt(event, 'bounce', 'bouncedRecipients');
  if (isAutoReply(type, subtype, recipient)) return NOTE;
  if (subtype === 'UnsubscribedRecipient') return BOUNCED;
  const isDead = isDeadMailbox({
    answer: textAt(recipient, 'diagnosticCode'),
    status: textAt(recipient, 'status'),
    reportedDead: type === 'Permanent',
  });
  return LISTED.has(subtype) || isDead ? { ...BOUNCED, suppress: 'hard_bounce' } : BOUNCED;
}
