import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bringMail, readLedger, startLedgerSmtp, statusReport, untilFound, type LedgerSmtp } from '@carillon/testing';
import {
  deviceOf,
  phoneOf,
  REPORT_TO,
  SID_OF,
  signedByTwilio,
  startFcmBook,
  startTwilioBook,
  type BookedMessage,
  type FcmBook,
  type TwilioBook,
} from '@carillon/testing/providers';
import { freePorts } from '@carillon/testing/services';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, shopFiles, type Shop } from './shop.ts';

/*
 * The product as a process, and providers that speak the real protocol and keep a book: SMTP, Twilio over HTTP, FCM over HTTP/2
 * and TLS. What they do with a message the first word of its address says.
 */

const PUBLIC = 'https://notify.example.com';
const AUTH_TOKEN = 'auth-token';

let folder: string;
let smtp: LedgerSmtp;
let twilio: TwilioBook;
let fcm: FcmBook;
let shop: Shop & { close(): Promise<void> };
let bouncesPort: number;
let mails: string;
/** What Twilio does with a message that it has just taken, before it answers. */
let whenTaken: ((message: BookedMessage) => Promise<void>) | undefined;

const deployment = (): string => `public_url: ${PUBLIC}
accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${smtp.port}, tls: none, from: Shop <shop@example.com>, return_path: bounces.example.com }
  sms:
    - { name: main, kind: twilio, account_sid: ${twilio.accountSid}, auth_token: { secret: TWILIO_TOKEN }, from: "+4915100000000", url: "${twilio.url}" }
    - { name: spare, kind: twilio, account_sid: ${twilio.accountSid}, auth_token: { secret: TWILIO_TOKEN }, from: "+4915100000000", url: "${twilio.url}" }
  push: { kind: fcm, credentials: { secret: FCM_KEY_FILE }, url: "${fcm.url}" }
`;

const notification = (channel: string, address: string): string => `channels:
  ${channel}: { template: order-paid }
rules:
  ${channel}:
    stream: orders
    when: has(event.${address})
    recipients:
      from: event
      to: { ${address}: event.${address} }
      unique_id: event.order_id
retry: { attempts: 3, first: 1s, max: 2s }
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'three-channels-'));
  mails = join(folder, 'mail.jsonl');
  smtp = await startLedgerSmtp({ file: mails });
  twilio = await startTwilioBook((message) => whenTaken?.(message));
  fcm = await startFcmBook();
  [bouncesPort = 0] = await freePorts(1);
  const certificate = join(folder, 'fcm.pem');
  await writeFile(certificate, fcm.trusted.join(''));
  const { 'workspaces/shop/notifications/order-paid.yaml': _, ...files } = shopFiles({ deployment: deployment() });
  shop = await openShop({
    files: {
      ...files,
      'workspaces/shop/notifications/by-email.yaml': notification('email', 'email'),
      'workspaces/shop/notifications/by-sms.yaml': notification('sms', 'phone'),
      'workspaces/shop/notifications/by-push.yaml': notification('push', 'token'),
      'workspaces/shop/templates/order-paid/email.yaml': 'subject: "{{ order_id }}"\n',
      'workspaces/shop/templates/order-paid/sms.txt': '{{ order_id }} is paid.\n',
      'workspaces/shop/templates/order-paid/push.yaml': 'title: "{{ order_id }}"\nbody: It is paid.\n',
    },
    env: {
      TWILIO_TOKEN: AUTH_TOKEN,
      FCM_KEY_FILE: fcm.keyFile,
      // The certificate of the stand-in, and that its address for access tokens, in the clear, may be asked.
      NODE_EXTRA_CA_CERTS: certificate,
      CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1',
      CARILLON_BOUNCES_LISTEN: `127.0.0.1:${bouncesPort}`,
    },
  });
});
afterAll(async () => {
  await shop?.close();
  await Promise.all([twilio?.stop(), fcm?.stop(), smtp?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const acceptances = async (subject: string): Promise<number> =>
  [...(await readLedger(mails)), ...twilio.messages, ...fcm.messages].filter((one) => one.subject === subject).length;

const addressed = (id: string, to: object) => ({ order_id: id, name: 'Ada', ...to });
/** Twilio posts a status to the address that the message named. */
async function reports(message: BookedMessage | undefined, status: string, more: object = {}): Promise<number> {
  const url = message?.headers[REPORT_TO] ?? '';
  const form = { MessageSid: message?.headers[SID_OF] ?? '', MessageStatus: status, ...more };
  const answer = await fetch(url.replace(PUBLIC, shop.product.gatewayUrl), signedByTwilio(url, form, AUTH_TOKEN));
  return answer.status;
}
const smsOf = (subject: string): BookedMessage | undefined => twilio.messages.find((one) => one.subject === subject);

describe('a message is taken once on each channel', () => {
  it.each([
    ['email', { email: 'customer-1@example.org' }],
    ['sms', { phone: phoneOf('customer', 1) }],
    ['push', { token: deviceOf('customer', 1) }],
  ])('%s', async (channel, to) => {
    const event = await shop.send(addressed(`sent-${channel}`, to));
    await shop.delivered(event, 'SENT');
    expect(await acceptances(`sent-${channel}`)).toBe(1);
  });
});

describe('a provider that takes the message and resets the connection leaves a doubt, and no other account takes over', () => {
  it.each([
    ['email', { email: 'unanswered-1@example.org' }],
    ['sms', { phone: phoneOf('unanswered', 1) }],
    ['push', { token: deviceOf('unanswered', 1) }],
  ])('%s', async (channel, to) => {
    const event = await shop.send(addressed(`reset-${channel}`, to));
    expect(await shop.delivered(event, 'IN_DOUBT')).toMatchObject({ reason: 'answer_unknown' });
    expect(await acceptances(`reset-${channel}`)).toBe(1);
  });

  it('which a report resolves: a Twilio status as sent, a bounce as bounced', async () => {
    const sms = await shop.send(addressed('evidence-sms', { phone: phoneOf('unanswered', 2) }));
    await shop.delivered(sms, 'IN_DOUBT');
    expect(await reports(smsOf('evidence-sms'), 'sent')).toBe(204);
    expect(await shop.delivered(sms, 'SENT')).toMatchObject({ reason: 'evidence' });

    const mail = await shop.send(addressed('evidence-mail', { email: 'unanswered-2@example.org' }));
    await shop.delivered(mail, 'IN_DOUBT');
    const { sender = '' } = (await readLedger(mails)).find(({ subject }) => subject === 'evidence-mail') ?? {};
    const report = statusReport('unanswered-2@example.org', '5.2.2', '552 5.2.2 mailbox full');
    expect(await bringMail(bouncesPort, sender, report)).toMatch(/^250/);
    await shop.delivered(mail, 'BOUNCED');
    expect([await acceptances('evidence-sms'), await acceptances('evidence-mail')]).toEqual([1, 1]);
  });

  it('which the message list of Twilio resolves after a minute', { timeout: 240_000 }, async () => {
    const event = await shop.send(addressed('listed-sms', { phone: phoneOf('unanswered', 3) }));
    await shop.delivered(event, 'IN_DOUBT');
    twilio.showList();
    const ended = await untilFound(
      'the list proves it',
      async () => (await shop.deliveries(`&event=${event}&state=SENT`))[0],
      200_000,
    );
    expect(ended).toMatchObject({ reason: 'evidence' });
    expect(await acceptances('listed-sms')).toBe(1);
  });
});

describe('reports on an SMS', () => {
  it('that arrive before the response to its request are applied once the response is there', async () => {
    const answers: number[] = [];
    whenTaken = async (message) => {
      whenTaken = undefined;
      answers.push(await reports(message, 'delivered'));
    };
    const event = await shop.send(addressed('first-sms', { phone: phoneOf('customer', 3) }));
    await shop.delivered(event, 'DELIVERED');
    expect(answers).toEqual([204]);
    expect(await acceptances('first-sms')).toBe(1);
  });

  it('that arrive twice, late or out of order never lower its state', async () => {
    const event = await shop.send(addressed('late-sms', { phone: phoneOf('customer', 2) }));
    await shop.delivered(event, 'SENT');
    const message = smsOf('late-sms');
    for (const status of ['undelivered', 'undelivered', 'delivered', 'sent', 'queued']) {
      expect(await reports(message, status, status === 'undelivered' ? { ErrorCode: '30003' } : {})).toBe(204);
    }
    await shop.delivered(event, 'BOUNCED');
    const receipts = async () => (await shop.story(event)).match(/twilio reported/g)?.length;
    await untilFound('all that came', async () => ((await receipts()) ?? 0) > 0 || undefined);
    expect(await shop.delivered(event)).toMatchObject({ state: 'BOUNCED' });
  });
});

describe('an address that the provider condemns gets nothing more', () => {
  it.each([
    ['email', { email: 'gone-1@example.org' }, 'hard_bounce'],
    ['sms', { phone: phoneOf('gone', 1) }, 'hard_bounce'],
    ['push', { token: deviceOf('gone', 1) }, 'dead_token'],
  ])('%s', async (channel, to, source) => {
    const first = await shop.send(addressed(`gone-${channel}`, to));
    expect(await shop.delivered(first, 'FAILED')).toMatchObject({ reason: 'refused_recipient' });
    expect((await shop.run(['suppressions', 'list'])).stdout).toContain(source);
    const second = await shop.send(addressed(`gone-again-${channel}`, to));
    await shop.delivered(second, 'SUPPRESSED');
    expect(await acceptances(`gone-again-${channel}`)).toBe(0);
  });
});
