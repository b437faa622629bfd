import { createSmtpSenderFactory } from '@carillon/adapter-providers/smtp';
import type { ChannelSender, RenderedEmail, SendContext } from '@carillon/ports';
import { createLoopbackGuard, type OpenSmtpd, startOpenSmtpd } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';

const email = (to: string, more: Partial<RenderedEmail> = {}): RenderedEmail => ({
  channel: 'email',
  to,
  from: { name: 'Shop', address: 'shop@example.com' },
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: 'Hello',
  messageId: `<${to.replace('@', '.at.')}@example.com>`,
  ...more,
});

const context = (): SendContext => ({
  workspace: 'shop',
  deliveryId: 'dlv_1',
  attemptToken: 'token-1',
  receiptToken: '0123456789abcdefghjkmnpqrs-1-0123456789',
  reportTo: null,
  traceparent: null,
  notAfter: Number.MAX_SAFE_INTEGER,
  signal: new AbortController().signal,
});

describeWith('opensmtpd', 'A mail server that we did not write', () => {
  let server: OpenSmtpd;
  let sender: ChannelSender;
  beforeAll(async () => {
    server = await startOpenSmtpd();
    sender = createSmtpSenderFactory({ clock: { now: Date.now }, guard: createLoopbackGuard() }).create(
      { kind: 'smtp', host: server.host, port: server.port, tls: 'none', from: 'Shop <shop@example.com>' },
      {},
      'shop',
    );
  });
  afterAll(async () => {
    await sender.close();
    await server.stop();
  });

  it('delivers what was accepted, as it was written', async () => {
    const message = email('ann@reader.example', {
      from: { name: 'Müller, "Söhne" & Co', address: 'shop@example.com' },
      subject: 'Grüße aus 東京 — Ihre Bestellung "42"',
      html: '<h1>Größe</h1>\n<p style="color:#333">3&nbsp;m, ✓ &amp; <a href="https://shop.example/?a=1&amp;b=2">mehr</a></p>',
      text: `Größe 3 m ✓\n.\n..two dots\n\n${'long '.repeat(400)}end`,
    });
    const result = await sender.send(message, context());
    expect(result).toMatchObject({ verdict: 'accepted', suppress: null, alert: false });
    expect(result.providerId).toMatch(/^[0-9a-f]+$/);

    const [mail] = await server.readMail(1);
    expect(mail).toMatchObject({
      messageId: message.messageId,
      subject: message.subject,
      from: message.from,
      to: [{ name: '', address: message.to }],
      text: message.text,
      html: message.html,
    });
  });

  it('gets a burst over few connections, each message once', async () => {
    const messages = Array.from({ length: 40 }, (_, index) => email(`reader-${index}@burst.example`));
    const results = await Promise.all(messages.map((message) => sender.send(message, context())));
    expect(results.map((each) => each.verdict)).toEqual(messages.map(() => 'accepted'));
    const mails = (await server.readMail(41)).filter((mail) => mail.to[0]?.address.endsWith('@burst.example'));
    expect(mails).toHaveLength(messages.length);
    expect(new Set(mails.map((mail) => mail.messageId))).toEqual(new Set(messages.map((each) => each.messageId)));
  });

  it('refuses an invalid address, and suppresses nobody', async () => {
    const result = await sender.send(email('a..b@-.example'), context());
    expect(result).toMatchObject({ suppress: null });
    expect(['refused_content', 'refused_recipient', 'transient']).toContain(result.verdict);
    expect(result.detail).not.toContain('a..b');
  });

  it('is found in order by the check of the account', async () => {
    const steps = await sender.check();
    expect(steps.map((each) => `${each.step} ${each.ok}`)).toEqual([
      'resolve true',
      'connect true',
      'TLS true',
      'greeting true',
      'login true',
    ]);
  });
});
