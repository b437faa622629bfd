import { type ParsedMail, parseMail, type ScriptedSmtp, startScriptedSmtp } from '@carillon/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redact } from '../src/redact.ts';
import { context, message, NOW, senderFor } from './accounts.ts';

const HEADERS = ['content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'];

let server: ScriptedSmtp;
let sender: ReturnType<typeof senderFor>;
beforeEach(async () => {
  server = await startScriptedSmtp();
  sender = senderFor(server);
});
afterEach(async () => {
  await sender.close();
  await server.stop();
});

async function received(): Promise<ParsedMail> {
  const mail = server.accepted.at(-1);
  if (!mail) throw new Error('nothing was accepted');
  return parseMail(Buffer.from(mail.raw, 'latin1'));
}

describe('The message', () => {
  it('has the given Message-ID, the current time, and only the expected headers', async () => {
    await sender.send(message(), context());
    const { headers, messageId } = await received();
    expect(messageId).toBe('<one@example.com>');
    expect(Date.parse(headers.find((each) => each.key === 'date')?.value ?? '')).toBe(NOW);
    expect(headers.map((each) => each.key).toSorted()).toEqual(HEADERS);
  });

  it('has one-line one-click unsubscribe headers if it has an unsubscribe link, and else none', async () => {
    const unsubscribe = `https://notify.example.com/unsubscribe/${'x'.repeat(600)}`;
    await sender.send(message({ unsubscribe }), context());
    const raw = server.accepted.at(-1)?.raw ?? '';
    expect(raw.split('\r\n')).toContain(`List-Unsubscribe: <${unsubscribe}>`);
    expect(raw.split('\r\n')).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    for (const hostile of [
      'https://a.example/x>\r\nBcc: c@d.example',
      'javascript:x',
      `https://a.example/${'x'.repeat(1000)}`,
    ]) {
      await sender.send(message({ unsubscribe: hostile }), context());
      expect(server.accepted.at(-1)?.raw).not.toMatch(/list-unsubscribe|bcc/i);
    }
  });

  it('has one sender and one recipient in its envelope', async () => {
    await sender.send(message(), context());
    expect(server.accepted).toEqual([
      expect.objectContaining({ from: 'shop@example.com', to: ['ann.reader@example.org'] }),
    ]);
  });

  it.each(['abc.@docomo.example', '.abc@docomo.example', 'a..b@mail.example'])(
    'is sent to %s with a quoted local part',
    async (to) => {
      expect(await sender.send(message({ to }), context())).toMatchObject({ verdict: 'accepted' });
      const [local, domain] = to.split('@');
      expect(server.accepted.at(-1)?.to).toEqual([`"${local}"@${domain}`]);
      expect(server.accepted.at(-1)?.raw).toContain(`\r\nTo: <"${local}"@${domain}>\r\n`);
    },
  );

  it('is sent to a non-ASCII local part with SMTPUTF8, and refused before MAIL if the server lacks it', async () => {
    const to = '用户@例え.example';
    expect(await sender.send(message({ to }), context())).toMatchObject({
      verdict: 'refused_recipient',
      code: 'no_smtputf8',
      suppress: null,
    });
    expect(server.heard.map(({ line }) => line)).not.toContainEqual(expect.stringContaining('MAIL'));
    const able = await startScriptedSmtp({ extensions: ['8BITMIME', 'SMTPUTF8', 'AUTH PLAIN LOGIN'] });
    const other = senderFor(able);
    expect(await other.send(message({ to }), context())).toMatchObject({ verdict: 'accepted' });
    // The next message of the connection is in ASCII and needs no extension.
    expect(await other.send(message(), context())).toMatchObject({ verdict: 'accepted' });
    await other.close();
    await able.stop();
    const decoded = (text: string | undefined): string => Buffer.from(text ?? '', 'latin1').toString();
    expect(able.heard.map(({ line }) => line).filter((line) => line.startsWith('MAIL'))).toEqual([
      expect.stringMatching(/SMTPUTF8/),
      expect.not.stringMatching(/SMTPUTF8/),
    ]);
    expect(decoded(able.accepted[0]?.to[0])).toBe('用户@xn--r8jz45g.example');
    expect(decoded(able.accepted[0]?.raw)).toContain('To: 用户@例え.example');
  });

  it('has non-ASCII domains in punycode', async () => {
    await sender.send(message({ to: 'ann@bücher.example' }), context());
    expect(server.accepted[0]?.to).toEqual(['ann@xn--bcher-kva.example']);
  });

  for (const to of ['', 'nobody', 'a@b.example\r\nRCPT TO:<c@d.example>', 'a@b.example> SIZE=1', 'a b@c.example']) {
    it(`is not sent to ${JSON.stringify(to)}, and nobody else gets it`, async () => {
      const result = await sender.send(message({ to }), context());
      expect(result.verdict).not.toBe('accepted');
      expect(result.suppress).toBe(null);
      expect(server.accepted).toEqual([]);
    });
  }

  it('is always one message, whatever names and subjects contain', async () => {
    const nasty = fc.string({
      unit: fc.constantFrom('\r', '\n', ',', '<', '>', '"', '@', ';', ':', ' ', 'a', 'B', 'é', '\\'),
    });
    await fc.assert(
      fc.asyncProperty(nasty, nasty, async (name, subject) => {
        const before = server.accepted.length;
        const result = await sender.send(message({ from: { name, address: 'shop@example.com' }, subject }), context());
        expect(result.verdict).toBe('accepted');
        const mails = server.accepted.slice(before);
        expect(mails.map((each) => [each.from, each.to])).toEqual([['shop@example.com', ['ann.reader@example.org']]]);
        const { headers, from } = await received();
        expect(from.address).toBe('shop@example.com');
        const keys = headers.map((each) => each.key);
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys.filter((key) => !HEADERS.includes(key))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('A text that looks like an encoded word', () => {
  it.each([
    '=?utf-8?Q?Your_bank?=',
    'Order =?utf-8?B?QUJD?= is paid',
    '=?utf-8?B?8J+YgA==?= =?utf-8?B?8J+YgA==?=',
    'half =? of one',
    `=?utf-8?Q?${'long'.repeat(40)}?=`,
  ])('is shown unchanged as subject and name: %s', async (text) => {
    await sender.send(message({ from: { name: text, address: 'shop@example.com' }, subject: text }), context());
    const mail = await received();
    expect(mail.subject).toBe(text);
    expect(mail.from).toMatchObject({ name: text, address: 'shop@example.com' });
    const raw = server.accepted.at(-1)?.raw ?? '';
    expect(raw.slice(0, raw.indexOf('\r\n\r\n'))).not.toContain(text);
    expect(raw.split('\r\n').every((line) => line.length <= 998)).toBe(true);
  });
});

describe('A server’s reply is shown', () => {
  const hidden = {
    address: 'ann.reader@example.org',
    credentials: ['correct horse'],
    content: ['Your order', 'visit https://shop.example/o/1'],
  };

  it('without the address of the recipient, whole, quoted or encoded', () => {
    for (const echo of [
      '<ann.reader@example.org>: Recipient address rejected',
      'Mailbox ANN.READER@EXAMPLE.ORG is full',
      'see https://spf.example/why?id=ann.reader%40example.org&ip=1',
      '"ann reader"@example.org does not like mail',
      'for ann.reader=example.org@bounces.example',
    ]) {
      const shown = redact(echo, hidden);
      expect(shown.toLowerCase()).not.toMatch(/ann.?reader|@|%40/);
      expect(shown).toContain('<address>');
    }
  });

  it('with other words kept, even if one equals the local part of the address', () => {
    const spam = { ...hidden, address: 'spam@example.org' };
    expect(redact('554 5.7.1 looks like spam', spam)).toBe('554 5.7.1 looks like spam');
    expect(redact('spam@example.org: this looks like spam', spam)).toBe('<address>: this looks like spam');
  });

  it('without credentials and message content', () => {
    const coded = Buffer.from('correct horse').toString('base64');
    expect(redact(`no: correct horse / ${coded}`, hidden)).toBe('no: <credential> / <credential>');
    expect(redact('blocked because of https://shop.example/o/1 in "Your order"', hidden)).toBe(
      'blocked because of <content> in "<content>"',
    );
  });

  it('in one short line without control characters, whatever the reply', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 4000 }), (text) => {
        const shown = redact(text, hidden);
        expect(shown.length).toBeLessThanOrEqual(300);
        expect(shown).not.toMatch(/\p{C}/u);
      }),
    );
  });

  it('in the result of an attempt', async () => {
    server.follow(({ stage }) =>
      stage === 'rcpt' ? '550 5.1.1 <ann.reader@example.org>: no mailbox ann.reader here' : undefined,
    );
    const { detail } = await sender.send(message(), context());
    expect(detail).toBe('The server refused the recipient: <address>: no mailbox ann.reader here');
  });

  it('for an accepted message, with the server’s id of it', async () => {
    server.follow(({ stage }) =>
      stage === 'dot' ? '250 2.0.0 queued as 1795 for <ann.reader@example.org>' : undefined,
    );
    expect(await sender.send(message(), context())).toMatchObject({
      verdict: 'accepted',
      code: '250 2.0.0',
      detail: 'The server accepted the message: queued as 1795 for <address>',
      providerId: '1795',
    });
  });
});

describe('The token by which a report finds its attempt', () => {
  const TOKEN = '0123456789abcdefghjkmnpqrs-1-0123456789';
  const topic = 'arn:aws:sns:eu-central-1:123456789012:carillon';

  it.each([
    [
      { kind: 'ses', topic, configuration_set: 'main' },
      { 'x-ses-configuration-set': 'main', 'x-ses-message-tags': `carillon=${TOKEN}` },
    ],
    [
      { kind: 'sendgrid', public_key: 'A'.repeat(124) },
      { 'x-smtpapi': JSON.stringify({ unique_args: { carillon: TOKEN } }) },
    ],
    [
      { kind: 'mailgun', signing_key: { secret: 'KEY' } },
      { 'x-mailgun-variables': JSON.stringify({ carillon: TOKEN }) },
    ],
    [{ kind: 'postmark', credentials: { secret: 'KEY' } }, { 'x-pm-metadata-carillon': TOKEN }],
  ] as const)('is in a header for %j, on one line', async (receipts, expected) => {
    const own = senderFor(server, { receipts });
    await own.send(message(), context());
    await own.close();
    const { headers } = await received();
    const found = Object.fromEntries(headers.map(({ key, value }) => [key, value]));
    expect(found).toMatchObject(expected);
    const raw = server.accepted.at(-1)?.raw ?? '';
    for (const value of Object.values(expected)) expect(raw).toContain(`: ${value}\r\n`);
  });
});

describe('With a return path', () => {
  it('has the attempt in the envelope, and the usual sender in the header', async () => {
    const returning = senderFor(server, { return_path: 'bounces.shop.example.com' });
    const result = await returning.send(message(), context());
    await returning.close();
    expect(result.verdict).toBe('accepted');
    expect(server.accepted.at(-1)).toMatchObject({
      from: `${context().receiptToken}@bounces.shop.example.com`,
      to: ['ann.reader@example.org'],
    });
    const { headers, from } = await received();
    expect(from.address).toBe('shop@example.com');
    expect(headers.map((each) => each.key).toSorted()).toEqual(HEADERS);
  });
});
