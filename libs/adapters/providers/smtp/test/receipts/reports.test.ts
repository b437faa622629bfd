import type { Report } from '@carillon/domain/receipts';
import type { CarillonError, Result } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { readMailgun, readPostmark, readSendGrid, readSes, type SnsMessage } from '../../src/receipts/index.ts';

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
function valueOf<T>(read: Result<T, CarillonError>): T {
  if (!read.ok) throw read.error;
  return read.value;
}
const first = (read: Result<readonly Report[], CarillonError>): Report => valueOf(read)[0] as Report;
const classified = ({ verdict, suppress, alert }: Report) => ({ verdict, suppress, alert });
const said = (verdict: Report['verdict'], suppress: Report['suppress'] = null, alert = false) => ({
  verdict,
  suppress,
  alert,
});

describe('an event of SES', () => {
  const message = (event: unknown): SnsMessage => ({
    kind: 'Notification',
    id: 'sns-1',
    topic: 't',
    text: JSON.stringify(event),
    signedText: '',
    algorithm: 'sha256',
    signature: '',
    certificateUrl: '',
    subscribeUrl: null,
    sentAt: 0,
  });
  const mail = { timestamp: '2026-11-22T10:00:00.000Z', messageId: '0102', tags: { carillon: ['tok-1'] } };
  const bounce = (bounceType: string, status: string) => ({
    eventType: 'Bounce',
    mail,
    bounce: {
      bounceType,
      bounceSubType: 'General',
      timestamp: '2026-11-22T10:00:05.000Z',
      bouncedRecipients: [{ emailAddress: 'a@example.com', status, diagnosticCode: `smtp; 550 ${status} no` }],
    },
  });

  const refused = (bounceType: string, bounceSubType: string, recipient: object) => ({
    eventType: 'Bounce',
    mail,
    bounce: { bounceType, bounceSubType, bouncedRecipients: [{ emailAddress: 'a@example.com', ...recipient }] },
  });

  it.each([
    ['a delivery', { eventType: 'Delivery', mail, delivery: {} }, said('delivered')],
    ['a permanent bounce', bounce('Permanent', '5.1.1'), said('bounced', 'hard_bounce')],
    ['a permanent bounce for policy', bounce('Permanent', '5.7.1'), said('bounced')],
    [
      'a permanent bounce without a code',
      refused('Permanent', 'General', { diagnosticCode: 'smtp; 550 refused' }),
      said('bounced', 'hard_bounce'),
    ],
    [
      'a permanent bounce by reputation',
      refused('Permanent', 'General', { status: '5.1.1', diagnosticCode: 'smtp; 550 blocked for its reputation' }),
      said('bounced'),
    ],
    [
      'an address on the suppression list of SES',
      refused('Permanent', 'OnAccountSuppressionList', { status: '5.1.1', diagnosticCode: 'it is suppressed' }),
      said('bounced', 'hard_bounce'),
    ],
    ['an address on a list of unsubscribed', refused('Permanent', 'UnsubscribedRecipient', {}), said('bounced')],
    ['a transient bounce', bounce('Transient', '4.4.7'), said('bounced')],
    ['an out-of-office reply', refused('Transient', 'General', {}), said('note')],
    [
      'an out-of-office reply without a recipient',
      { eventType: 'Bounce', mail, bounce: { bounceType: 'Undetermined', bounceSubType: 'Undetermined' } },
      said('note'),
    ],
    ['a full mailbox', refused('Transient', 'MailboxFull', {}), said('bounced')],
    ['an undetermined bounce', bounce('Undetermined', '5.0.0'), said('bounced')],
    [
      'a complaint',
      { eventType: 'Complaint', mail, complaint: { complaintFeedbackType: 'abuse' } },
      said('complained', 'complaint'),
    ],
    ['a complaint without a type', { eventType: 'Complaint', mail, complaint: {} }, said('complained', 'complaint')],
    [
      'a complaint taken back',
      { eventType: 'Complaint', mail, complaint: { complaintFeedbackType: 'not-spam' } },
      said('note'),
    ],
    ['a delay', { eventType: 'DeliveryDelay', mail, deliveryDelay: {} }, said('note')],
    ['a rejection', { eventType: 'Reject', mail, reject: { reason: 'Bad content' } }, said('bounced', null, true)],
    ['an opening', { eventType: 'Open', mail, open: {} }, said('note')],
    ['feedback of an identity', { notificationType: 'Delivery', mail, delivery: {} }, said('delivered')],
  ])('%s is judged', (_, event, expected) => {
    expect(classified(first(readSes(message(event))))).toEqual(expected);
  });

  it('carries the token, the status, the words and the time', () => {
    expect(first(readSes(message(bounce('Permanent', '5.1.1'))))).toMatchObject({
      eventId: 'sns-1',
      token: 'tok-1',
      code: '5.1.1',
      detail: 'Bounce: Permanent: General: smtp; 550 5.1.1 no',
      at: Date.parse('2026-11-22T10:00:05.000Z'),
    });
  });

  it('of an identity has no token', () => {
    const event = { notificationType: 'Delivery', mail: { ...mail, tags: undefined }, delivery: {} };
    expect(first(readSes(message(event))).token).toBeNull();
  });

  it('that is none is refused', () => {
    expect(readSes(message({ hello: 1 }))).toMatchObject({ ok: false });
    expect(readSes({ ...message(null), text: 'Successfully validated SNS topic' })).toMatchObject({ ok: false });
  });
});

describe('an event of SendGrid', () => {
  const event = (fields: object) => ({ sg_event_id: 'sg1', timestamp: 1_763_800_000, carillon: 'tok-2', ...fields });
  it.each([
    ['processed', event({ event: 'processed' }), said('note')],
    ['delivered', event({ event: 'delivered', response: '250 OK' }), said('delivered')],
    ['deferred', event({ event: 'deferred' }), said('note')],
    [
      'bounced at a dead mailbox',
      event({ event: 'bounce', type: 'bounce', status: '5.1.1' }),
      said('bounced', 'hard_bounce'),
    ],
    [
      'bounced as an invalid address',
      event({ event: 'bounce', type: 'bounce', status: '', bounce_classification: 'Invalid Address' }),
      said('bounced', 'hard_bounce'),
    ],
    ['bounced for another reason', event({ event: 'bounce', type: 'bounce', status: '5.7.1' }), said('bounced')],
    [
      'bounced with a code in the reason alone',
      event({ event: 'bounce', type: 'bounce', reason: '554 5.1.1 no mailbox' }),
      said('bounced', 'hard_bounce'),
    ],
    [
      'bounced with words alone',
      event({ event: 'bounce', type: 'bounce', status: '5.0.0', reason: '550 Unknown user' }),
      said('bounced', 'hard_bounce'),
    ],
    [
      'bounced for its quota',
      event({ event: 'bounce', type: 'bounce', status: '5.1.1', reason: '550 5.1.1 over quota' }),
      said('bounced'),
    ],
    ['blocked', event({ event: 'bounce', type: 'blocked', status: '5.1.1' }), said('bounced')],
    ['dropped as bounced', event({ event: 'dropped', reason: 'Bounced Address' }), said('bounced', 'hard_bounce')],
    [
      'dropped as complained',
      event({ event: 'dropped', reason: 'Spam Reporting Address' }),
      said('bounced', 'complaint'),
    ],
    ['dropped as unsubscribed', event({ event: 'dropped', reason: 'Unsubscribed Address' }), said('bounced')],
    ['reported as spam', event({ event: 'spamreport' }), said('complained', 'complaint')],
    ['opened', event({ event: 'open' }), said('note')],
  ])('%s is judged', (_, body, expected) => {
    expect(classified(first(readSendGrid(json([body]))))).toEqual(expected);
  });

  it('carries the token, the time and the words', () => {
    const report = first(
      readSendGrid(json([event({ event: 'bounce', type: 'bounce', reason: '550\r\nno', status: '5.0.0' })])),
    );
    expect(report).toMatchObject({ eventId: 'sg1', token: 'tok-2', code: '5.0.0', detail: 'bounce: bounce: 550 no' });
    expect(report.at).toBe(1_763_800_000_000);
  });

  it('comes with up to 2,000 in a list, and in no other form', () => {
    const many = (count: number) => json(Array.from({ length: count }, () => event({ event: 'open' })));
    expect(valueOf(readSendGrid(many(2_000)))).toHaveLength(2_000);
    expect(readSendGrid(many(2_001))).toMatchObject({ ok: false, error: { code: 'body_too_large' } });
    expect(readSendGrid(json({}))).toMatchObject({ ok: false, error: { code: 'invalid_request' } });
    expect(readSendGrid(Buffer.from('['))).toMatchObject({ ok: false, error: { code: 'invalid_json' } });
    expect(valueOf(readSendGrid(json([1, null, {}]))).map(classified)).toEqual([
      said('note'),
      said('note'),
      said('note'),
    ]);
  });
});

describe('an event of Mailgun', () => {
  const event = (fields: object) => ({
    'event-data': { id: 'mg1', timestamp: 1_763_800_000.5, 'user-variables': { carillon: 'tok-3' }, ...fields },
  });
  const failed = (severity: string, reason: string, code: string) =>
    event({
      event: 'failed',
      severity,
      reason,
      'delivery-status': { code: 550, 'enhanced-code': code, message: 'no' },
    });
  const worded = (code: number, message: string) =>
    event({ event: 'failed', severity: 'permanent', reason: 'bounce', 'delivery-status': { code, message } });

  it.each([
    ['accepted', event({ event: 'accepted' }), said('note')],
    ['delivered', event({ event: 'delivered' }), said('delivered')],
    ['failed for now', failed('temporary', 'generic', '4.2.2'), said('note')],
    ['failed at a dead mailbox', failed('permanent', 'bounce', '5.1.1'), said('bounced', 'hard_bounce')],
    ['failed otherwise', failed('permanent', 'generic', '5.7.1'), said('bounced')],
    [
      'failed with the code in the message alone',
      worded(550, '5.1.1 The email account that you tried to reach does not exist.'),
      said('bounced', 'hard_bounce'),
    ],
    ['failed with words alone', worded(550, 'No such user here'), said('bounced', 'hard_bounce')],
    ['failed since it was refused for too long', worded(450, 'User unknown'), said('bounced')],
    ['failed for the rate', worded(550, '5.2.1 receiving mail at a rate that prevents more'), said('bounced')],
    ['on Mailgun’s list of bounces', failed('permanent', 'suppress-bounce', ''), said('bounced', 'hard_bounce')],
    ['on Mailgun’s list of complaints', failed('permanent', 'suppress-complaint', ''), said('bounced', 'complaint')],
    ['on Mailgun’s list of unsubscribed', failed('permanent', 'suppress-unsubscribe', ''), said('bounced')],
    ['rejected', event({ event: 'rejected' }), said('bounced', null, true)],
    ['complained', event({ event: 'complained' }), said('complained', 'complaint')],
    ['clicked', event({ event: 'clicked' }), said('note')],
  ])('%s is judged', (_, body, expected) => {
    expect(classified(first(readMailgun(json(body))))).toEqual(expected);
  });

  it('carries the token, the code, the time and the words', () => {
    expect(first(readMailgun(json(failed('permanent', 'bounce', '5.1.1'))))).toMatchObject({
      eventId: 'mg1',
      token: 'tok-3',
      code: '5.1.1',
      detail: 'failed: permanent: bounce: no',
      at: 1_763_800_000_500,
    });
    const plain = event({ event: 'failed', severity: 'permanent', 'delivery-status': { code: 605 } });
    expect(first(readMailgun(json(plain))).code).toBe('605');
  });

  it.each([[{}], [[]], [null], [{ 'event-data': { event: 'delivered' } }]])('%j is refused', (body) => {
    expect(readMailgun(json(body))).toMatchObject({ ok: false, error: { code: 'invalid_request' } });
  });
});

describe('a record of Postmark', () => {
  const record = (fields: object) => ({ MessageID: 'pm', ID: 42, Metadata: { carillon: 'tok-4' }, ...fields });
  it.each([
    ['Delivery', record({ RecordType: 'Delivery', DeliveredAt: '2026-11-22T10:00:00Z' }), said('delivered')],
    ['HardBounce', record({ RecordType: 'Bounce', Type: 'HardBounce', TypeCode: 1 }), said('bounced', 'hard_bounce')],
    [
      'HardBounce that was blocked',
      record({ RecordType: 'Bounce', Type: 'HardBounce', Details: 'smtp;550 5.7.1 blocked' }),
      said('bounced'),
    ],
    ['BadEmailAddress', record({ RecordType: 'Bounce', Type: 'BadEmailAddress' }), said('bounced', 'hard_bounce')],
    ['SoftBounce', record({ RecordType: 'Bounce', Type: 'SoftBounce' }), said('bounced')],
    [
      'SoftBounce of a dead mailbox',
      record({ RecordType: 'Bounce', Type: 'SoftBounce', Details: 'smtp;550 5.1.1 User unknown' }),
      said('bounced', 'hard_bounce'),
    ],
    ['Transient', record({ RecordType: 'Bounce', Type: 'Transient' }), said('note')],
    ['an absence note', record({ RecordType: 'Bounce', Type: 'AutoResponder' }), said('note')],
    ['a type that is new', record({ RecordType: 'Bounce', Type: 'Tomorrow' }), said('bounced')],
    ['a type like a field of every object', record({ RecordType: 'Bounce', Type: 'constructor' }), said('bounced')],
    ['SpamComplaint', record({ RecordType: 'SpamComplaint', Type: 'SpamComplaint' }), said('complained', 'complaint')],
    ['Open', record({ RecordType: 'Open' }), said('note')],
  ])('%s is judged', (_, body, expected) => {
    expect(classified(first(readPostmark(json(body))))).toEqual(expected);
  });

  it('carries the token, the code and the time', () => {
    const body = record({ RecordType: 'Bounce', Type: 'HardBounce', TypeCode: 1, BouncedAt: '2026-11-22T10:00:00Z' });
    expect(first(readPostmark(json(body)))).toMatchObject({
      eventId: 'Bounce:42',
      token: 'tok-4',
      code: '1',
      at: Date.parse('2026-11-22T10:00:00Z'),
    });
  });

  it('that is none is refused', () => {
    expect(readPostmark(json({ RecordType: 'Delivery' }))).toMatchObject({ ok: false });
    expect(readPostmark(json([]))).toMatchObject({ ok: false });
  });
});

describe('the words of a provider', () => {
  it('are one line of at most 500 characters, and no half of a character', () => {
    const detail = (reason: string) => first(readSendGrid(json([{ event: 'x', reason }]))).detail;
    expect(detail('a\u0000\r\nBcc: b\u2028c\u009b')).toBe('x: a Bcc: b c');
    expect(detail(`${'a'.repeat(496)}😀`).isWellFormed()).toBe(true);
    expect(detail('a'.repeat(10_000))).toHaveLength(500);
  });
});
