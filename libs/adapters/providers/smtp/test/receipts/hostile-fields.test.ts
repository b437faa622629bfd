import type { Report } from '@carillon/domain/receipts';
import { ERRORS, type CarillonError, type Result } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { readMailgun, readPostmark, readSendGrid, readSes, type SnsMessage } from '../../src/receipts/index.ts';

type Read = Result<readonly Report[], CarillonError>;
const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const sns = (event: unknown): SnsMessage => ({
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
const MAIL = { messageId: 'ses-1', tags: { carillon: ['tok'] }, headers: [{ name: 'X', value: 'y' }] };

/** A record of each provider with the fields that are read. */
const RECORDS: Readonly<Record<string, readonly [record: object, read: (record: unknown) => Read]>> = {
  postmark: [
    {
      RecordType: 'Bounce',
      MessageID: 'pm',
      ID: 42,
      Type: 'HardBounce',
      TypeCode: 1,
      Details: 'gone',
      Description: 'gone',
      BouncedAt: '2026-11-22T10:00:00Z',
      DeliveredAt: '2026-11-22T10:00:00Z',
      Metadata: { carillon: 'tok' },
    },
    (record) => readPostmark(bytes(record)),
  ],
  sendgrid: [
    {
      event: 'bounce',
      sg_event_id: 'e1',
      type: 'bounce',
      status: '5.1.1',
      reason: 'gone',
      response: 'gone',
      timestamp: 1_763_800_000,
      bounce_classification: 'Invalid Address',
      carillon: 'tok',
    },
    (record) => readSendGrid(bytes([record])),
  ],
  mailgun: [
    {
      signature: { timestamp: '1', token: 't', signature: 's' },
      'event-data': {
        id: 'e1',
        event: 'failed',
        severity: 'permanent',
        reason: 'bounce',
        timestamp: 1_763_800_000.5,
        'delivery-status': { code: 550, 'enhanced-code': '5.1.1', message: 'gone', description: 'gone' },
        'user-variables': { carillon: 'tok' },
      },
    },
    (record) => readMailgun(bytes(record)),
  ],
  'bounces of ses': [
    {
      eventType: 'Bounce',
      mail: MAIL,
      bounce: {
        bounceType: 'Permanent',
        bounceSubType: 'General',
        feedbackId: 'f1',
        timestamp: '2026-11-22T10:00:00Z',
        bouncedRecipients: [{ status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1', emailAddress: 'a@example.com' }],
      },
    },
    (record) => readSes(sns(record)),
  ],
  'complaints of ses': [
    {
      eventType: 'Complaint',
      mail: MAIL,
      complaint: { feedbackId: 'f1', timestamp: '2026-11-22T10:00:00Z', complaintFeedbackType: 'abuse' },
    },
    (record) => readSes(sns(record)),
  ],
};

type Path = readonly string[];
const pathsOf = (value: unknown, at: Path = []): readonly Path[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, part]) => [[...at, name], ...pathsOf(part, [...at, name])])
    : [];
function changed(value: unknown, [name = '', ...rest]: Path, by: unknown): unknown {
  const part: unknown = rest.length === 0 ? by : changed((value as Record<string, unknown>)[name], rest, by);
  if (Array.isArray(value)) return value.map((one: unknown, at) => (String(at) === name ? part : one));
  return { ...(value as object), [name]: part };
}

const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  'x'.repeat(20_000),
  'a\r\nBcc: eve@example.com\u0000\u2028',
  '\ud800',
  '275760-09-13T00:00:00.001Z',
  [],
  [[1]],
  [null],
  {},
  { '': '' },
  { toString: 'x', valueOf: 'y', constructor: 1 },
];
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

describe('a field that is something else than the provider documents', () => {
  for (const [source, [record, read]] of Object.entries(RECORDS)) {
    it.each(pathsOf(record).map((path) => [path.join('.'), path] as const))(
      `is no fault of ours: of ${source}, %s`,
      (_, path) => {
        for (const wrong of WRONG) {
          const answer = read(changed(record, path, wrong));
          if (!answer.ok) {
            expect(ERRORS[answer.error.code].status).toBe(400);
            expect(answer.error.message).not.toBe('');
            continue;
          }
          for (const { detail, at, eventId } of answer.value) {
            expect(detail.length).toBeLessThanOrEqual(500);
            expect(detail).not.toMatch(CONTROL);
            expect(typeof eventId).toBe('string');
            expect(at === null || Number.isSafeInteger(at)).toBe(true);
          }
        }
      },
    );
    it(`and of ${source} the record as it should be is read`, () => {
      expect(read(record)).toMatchObject({ ok: true, value: [{ token: 'tok' }] });
    });
  }
});
