import { describe, expect, it } from 'vitest';
import { readMailReport } from '../src/read-report.ts';

const TOKEN = '0123456789abcdefghjkmnpqrs-1-0123456789';

const mail = (...lines: readonly string[]): string =>
  ['From: MAILER-DAEMON@mx.example.org', `To: ${TOKEN}@bounces.test`, 'Subject: failure notice', '', ...lines].join(
    '\r\n',
  );

/** The message that came back, below its notice. Its text must not be read as a reason. */
const COPY = ['Return-Path: <shop@example.com>', 'Subject: Your order', '', '550 5.1.1 User unknown', ''];

const qmail = (...reason: readonly string[]): string =>
  mail(
    'Hi. This is the qmail-send program at mx.example.org.',
    "I'm afraid I wasn't able to deliver your message to the following addresses.",
    "This is a permanent error; I've given up. Sorry it didn't work out.",
    '',
    '<person@example.net>:',
    ...reason,
    '',
    '--- Below this line is a copy of the message.',
    '',
    ...COPY,
  );

const exim = (...reason: readonly string[]): string =>
  mail(
    'This message was created automatically by mail delivery software.',
    '',
    'A message that you sent could not be delivered to one or more of its',
    'recipients. This is a permanent error. The following address(es) failed:',
    '',
    '  person@example.net',
    ...reason.map((line) => `    ${line}`),
    '',
    '------ This is a copy of the message, including all the headers. ------',
    '',
    ...COPY,
  );

const exchange2003 = (...reason: readonly string[]): string =>
  mail(
    'Your message',
    '',
    '  To:      person@example.net',
    '  Subject: Your order',
    '',
    'did not reach the following recipient(s):',
    '',
    'person@example.net on Thu, 26 Nov 2026 10:00:00 -0000',
    ...reason.map((line) => `    ${line}`),
  );

const exchange2007 = (reason: string): string =>
  mail(
    'Delivery has failed to these recipients or distribution lists:',
    '',
    'Person<mailto:person@example.net>',
    "The recipient's e-mail address was not found in the recipient's e-mail system.",
    '',
    'Diagnostic information for administrators:',
    '',
    'Generating server: mx.example.net',
    '',
    'person@example.net',
    reason,
    '',
    'Original message headers:',
    '',
    ...COPY,
  );

const read = (text: string) => readMailReport(Buffer.from(text), TOKEN);

describe('a bounce mail in plain text (without a machine-readable part)', () => {
  it.each([
    ['qmail, by its own code', qmail('Sorry, no mailbox here by that name. (#5.1.1)'), '5.1.1'],
    [
      'qmail, by the answer of the other server',
      qmail('192.0.2.25 does not like recipient.', 'Remote host said: 550 User unknown', 'Giving up on 192.0.2.25.'),
      '',
    ],
    [
      'Exim',
      exim(
        'SMTP error from remote mail server after RCPT TO:<person@example.net>:',
        'host mx.example.net [192.0.2.20]: 550 5.1.1 <person@example.net>: no',
      ),
      '5.1.1',
    ],
    ['Exchange 2003', exchange2003('The recipient name is not recognized', 'MSEXCH:IMS:A:B:C 0 (000C05A6)'), ''],
    ['Exchange 2007', exchange2007('#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##'), '5.1.1'],
  ])('from %s marks the delivery as bounced and suppresses the address', async (_, text, code) => {
    expect(await read(text)).toMatchObject({
      kind: 'report',
      report: { source: 'dsn', verdict: 'bounced', suppress: 'hard_bounce', code, token: TOKEN },
    });
  });

  it.each([
    ['qmail: full', qmail('Remote host said: 552 5.2.2 Mailbox full', 'Giving up on 192.0.2.25.'), '5.2.2'],
    ['Exim: blocked', exim('host mx.example.net [192.0.2.20]: 554 5.7.1 blocked by policy'), '5.7.1'],
    [
      'Exim: about the sender',
      exim('SMTP error after MAIL FROM:<t@bounces.test>:', 'host mx.example.net [192.0.2.20]: 550 User unknown'),
      '',
    ],
    ['Exchange 2003: too large', exchange2003('This message is too large.'), ''],
    ['Exchange 2007: full', exchange2007('#550 5.2.2 STOREDRV.Deliver: mailbox full ##'), '5.2.2'],
  ])('from %s marks the delivery as bounced and does not suppress the address', async (_, text, code) => {
    expect(await read(text)).toMatchObject({ kind: 'report', report: { verdict: 'bounced', suppress: null, code } });
  });

  it('leaves the delivery unchanged while the mail server still retries', async () => {
    const delayed = mail(
      'This message was created automatically by mail delivery software.',
      'A message that you sent has not yet been delivered to one or more of its',
      'recipients after more than 24 hours on the queue on mx.example.org.',
      '',
      'The address to which the message has not yet been delivered is:',
      '',
      '  person@example.net',
    );
    expect(await read(delayed)).toMatchObject({ kind: 'report', report: { verdict: 'note', suppress: null } });
  });

  it('keeps its event id when another server forwards the mail again', async () => {
    const text = qmail('Sorry, no mailbox here by that name. (#5.1.1)');
    const again = `Received: by other.test\r\n${text}`;
    const ids = await Promise.all([text, again].map(read));
    expect(ids[1]).toEqual(ids[0]);
  });

  it.each([
    ['an absence note', mail('I am away until Monday.', '', '> 550 5.1.1 User unknown')],
    [
      'a reply that quotes a bounce',
      mail(
        'What is this?',
        '',
        '> Hi. This is the qmail-send program at mx.example.org.',
        '> <a@example.net>:',
        '> 550 User unknown',
      ),
    ],
    ['a notice without a reason', mail('Hi. This is the qmail-send program at mx.example.org.')],
  ])('is not recognized in %s', async (_, text) => {
    expect(await read(text)).toEqual({ kind: 'none' });
  });
});
