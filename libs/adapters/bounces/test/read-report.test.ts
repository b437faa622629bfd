import { describe, expect, it } from 'vitest';
import { readMailReport } from '../src/read-report.ts';

const TOKEN = '0123456789abcdefghjkmnpqrs-1-0123456789';

/** As Postfix 3.7 writes it: notice, status and the message that came back. */
const dsn = (recipient: string, received = 'relay.test'): string =>
  [
    `Received: by ${received} (Postfix); Sun, 22 Nov 2026 10:00:05 +0000 (UTC)`,
    'From: MAILER-DAEMON@relay.test (Mail Delivery System)',
    'Subject: Undelivered Mail Returned to Sender',
    `To: ${TOKEN}@bounces.test`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="B1"',
    '',
    '--B1',
    'Content-Description: Notification',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'This is the mail system at host relay.test.',
    '',
    '--B1',
    'Content-Description: Delivery report',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; relay.test',
    'X-Postfix-Queue-ID: 4F2A1',
    '',
    recipient,
    '',
    '--B1',
    'Content-Description: Undelivered Message',
    'Content-Type: message/rfc822',
    '',
    'From: shop@example.com',
    'Content-Type: message/delivery-status',
    '',
    'Action: delivered',
    'Status: 2.0.0',
    '--B1--',
    '',
  ].join('\r\n');

const status = (
  action: string,
  code: string,
  diagnostic = `smtp; 550 ${code} <a@example.com>: no such\r\n    user`,
): string =>
  [
    'Final-Recipient: rfc822; a@example.com',
    `Action: ${action}`,
    `Status: ${code}`,
    `Diagnostic-Code: ${diagnostic}`,
  ].join('\r\n');

const read = (mail: string) => readMailReport(Buffer.from(mail), TOKEN);
async function reportOf(mail: string) {
  const reading = await read(mail);
  if (reading.kind !== 'report') throw new Error(reading.kind);
  return reading.report;
}

describe('a delivery status notification (a machine-readable bounce mail)', () => {
  it.each([
    ['failed', '5.1.1', 'bounced', 'hard_bounce'],
    ['failed', '5.1.2', 'bounced', 'hard_bounce'],
    ['failed', '5.1.6', 'bounced', 'hard_bounce'],
    ['failed', '5.1.10', 'bounced', 'hard_bounce'],
    ['failed', '5.2.1', 'bounced', 'hard_bounce'],
    ['failure', '5.1.1', 'bounced', 'hard_bounce'],
    ['failed', '4.4.7', 'bounced', null],
    ['expired', '4.4.7', 'bounced', null],
    ['Failed (expired)', '4.4.1', 'bounced', null],
    ['delayed', '4.4.1', 'note', null],
    ['relayed', '2.0.0', 'note', null],
    ['expanded', '2.0.0', 'note', null],
    ['delivered', '2.0.0', 'delivered', null],
    ['delivered', '5.1.1', 'delivered', null],
    ['invented', '5.1.1', 'note', null],
  ])('%s %s means %s, suppressed: %s', async (action, code, verdict, suppress) => {
    expect(await reportOf(dsn(status(action, code)))).toMatchObject({ source: 'dsn', verdict, suppress, code });
  });

  const recipient = (...fields: readonly string[]): string =>
    ['Final-Recipient: rfc822; person@example.net', ...fields].join('\r\n');

  it.each([
    {
      title: 'does not suppress a mailbox that gets mail too fast',
      fields: [
        'Action: failed',
        'Status: 5.2.1',
        'Diagnostic-Code: smtp; 550-5.2.1 The user is receiving mail at a rate that',
        '    prevents additional messages from being delivered. 550 5.2.1',
        '    https://support.example/?p=ReceivingRatePerm',
      ],
      code: '5.2.1',
      suppress: null,
    },
    {
      title: 'prefers the code of the server that refused',
      fields: [
        'Action: failed',
        'Status: 5.1.1',
        'Diagnostic-Code: SMTP; 550 5.7.1 IP address blacklisted by recipient',
      ],
      code: '5.7.1',
      suppress: null,
    },
    {
      title: 'reads a code that only the answer holds',
      fields: ['Action: failed', 'Diagnostic-Code: smtp; 550 5.1.1 User unknown'],
      code: '5.1.1',
      suppress: 'hard_bounce',
    },
    {
      title: 'reads the action failure',
      fields: ['Action: failure', 'Status: 5.1.1', 'Diagnostic-Code: smtp; 550 5.1.1 User unknown'],
      code: '5.1.1',
      suppress: 'hard_bounce',
    },
    {
      title: 'reads an answer without any code',
      fields: ['Action: failed', 'Status: 5.0.0', 'Diagnostic-Code: smtp; 550 Unknown user person@example.net'],
      code: '5.0.0',
      suppress: 'hard_bounce',
    },
    {
      title: 'keeps an address with a full mailbox',
      fields: ['Action: failed', 'Status: 5.2.2', 'Diagnostic-Code: smtp; 552 5.2.2 Mailbox full'],
      code: '5.2.2',
      suppress: null,
    },
    {
      title: 'keeps an address that was refused for now, also when the mail server gave up',
      fields: [
        'Action: failed',
        'Status: 4.1.1',
        'Diagnostic-Code: smtp; 450 4.1.1 User unknown in virtual alias table',
      ],
      code: '4.1.1',
      suppress: null,
    },
  ])('$title', async ({ fields, code, suppress }) => {
    expect(await reportOf(dsn(recipient(...fields)))).toMatchObject({ verdict: 'bounced', code, suppress });
  });

  it('suppresses an alias only if none of the mailboxes behind it exists', async () => {
    const [dead, full, arrived] = [
      status('failed', '5.1.1'),
      status('failed', '5.2.2', ''),
      status('delivered', '2.0.0'),
    ];
    const report = (...groups: readonly string[]) => reportOf(dsn(groups.join('\r\n\r\n')));
    expect(await report(dead, full)).toMatchObject({ verdict: 'bounced', suppress: null });
    expect(await report(dead, arrived)).toMatchObject({ verdict: 'bounced', suppress: null });
    expect(await report(dead, dead)).toMatchObject({ verdict: 'bounced', suppress: 'hard_bounce' });
  });

  it('keeps the text of the refusing server on one line', async () => {
    const { detail, token } = await reportOf(dsn(status('failed', '5.1.1')));
    expect(detail).toBe('failed: 5.1.1: smtp; 550 5.1.1 <a@example.com>: no such user');
    expect(token).toBe(TOKEN);
  });

  it('about several recipients counts the worst result, because our one recipient is an alias for them', async () => {
    const both = `${status('delivered', '2.0.0')}\r\n\r\n${status('failed', '5.2.2', 'smtp; 552 5.2.2 full')}`;
    expect(await reportOf(dsn(both))).toMatchObject({ verdict: 'bounced', code: '5.2.2' });
  });

  it('has the same event id when another server forwards it, and another id for another status', async () => {
    const one = await reportOf(dsn(status('failed', '5.1.1')));
    expect((await reportOf(dsn(status('failed', '5.1.1'), 'other.test'))).eventId).toBe(one.eventId);
    expect((await reportOf(dsn(status('delayed', '4.4.1')))).eventId).not.toBe(one.eventId);
  });

  it('cannot insert a line break into the stored detail', async () => {
    const { detail } = await reportOf(dsn(status('failed', '5.0.0', 'smtp; 550 \u0000\u001b[31mred\r\n\tSubject: x')));
    expect(detail).not.toMatch(/\p{Cc}/u);
  });
});

describe('an abuse report (a person marked a mail as spam)', () => {
  const arf = (type: string): string =>
    [
      'From: fbl@isp.test',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=feedback-report; boundary=X',
      '',
      '--X',
      'Content-Type: text/plain',
      '',
      'A complaint.',
      '--X',
      'Content-Type: message/feedback-report',
      '',
      `Feedback-Type: ${type}`,
      'User-Agent: FBL/1.0',
      'Version: 1',
      '--X--',
      '',
    ].join('\r\n');

  it.each([
    ['abuse', 'complained', 'complaint'],
    ['Fraud', 'complained', 'complaint'],
    ['not-spam', 'note', null],
    ['virus', 'note', null],
    ['other', 'note', null],
  ])('of type %s means %s, suppressed: %s', async (type, verdict, suppress) => {
    expect(await reportOf(arf(type))).toMatchObject({ source: 'arf', verdict, suppress });
  });
});

describe('a mail that is no report', () => {
  it.each([
    ['an absence note', 'From: a@example.com\r\nSubject: Out of office\r\n\r\nI am away.\r\n'],
    ['an empty mail', ''],
    ['a report without a status', dsn('Final-Recipient: rfc822; a@example.com')],
    ['a status in the text of a mail', `Subject: x\r\n\r\n${status('failed', '5.1.1')}\r\n`],
  ])('is recognized as no report: %s', async (_, mail) => {
    expect(await read(mail)).toEqual({ kind: 'none' });
  });

  it('of a hundred nested parts is not parsed', async () => {
    const open = Array.from(
      { length: 100 },
      (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
    );
    expect(
      await read(`MIME-Version: 1.0\r\n${open.join('')}Content-Type: message/delivery-status\r\n\r\nAction: failed`),
    ).toEqual({
      kind: 'unreadable',
    });
  });

  it('of random bytes never throws', async () => {
    const bytes = Uint8Array.from({ length: 5_000 }, (_, at) => (at * 7919) % 256);
    expect(['none', 'unreadable']).toContain((await readMailReport(bytes, TOKEN)).kind);
  });
});
