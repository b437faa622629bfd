import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bringMail, startOtlpReceiver, startScriptedSmtp, statusReport, untilFound } from '@carillon/testing';
import {
  answerFcm,
  answerTwilio,
  signedByTwilio,
  startScriptedFcm,
  startScriptedTwilio,
  TWILIO_ACCOUNT,
} from '@carillon/testing/providers';
import { freePorts } from '@carillon/testing/services';
import { expect, it } from 'vitest';
import { leaksOf, spansAsText } from './canaries.ts';
import { openShop, request, shopFiles } from './shop.ts';

const PUBLIC = 'https://notify.example.com';
const AUTH_TOKEN = 'canary-auth-token-of-twilio-77';
const EMAIL = 'canary.reader@secret-shop.example';
const PHONE = '+4915155507788';
const DEVICE = 'canaryDevice81:APA91bCanaryTokenOfADevice_0123456789';
/** What the message says: words of its own, and a code. */
const WORDS = 'Featherstone bought seventeen porcelain canaries';
const CODE = 'QX48151623';

/** What no log, span or metric may hold of people and messages, nor what providers wrote down of a call. */
const CANARIES = { email: EMAIL, phone: PHONE, device: DEVICE, words: WORDS, code: CODE, authToken: AUTH_TOKEN };
/** What each provider says of whatever it refuses: all that it was told. */
const repeated = (to: string): string => `rejected ${to}: "${WORDS}" with ${CODE} looks like spam`;

const notification = (channel: string, address: string): string => `channels: { ${channel}: { template: order-paid } }
rules:
  ${channel}:
    stream: orders
    when: has(event.${address})
    recipients: { from: event, to: { ${address}: event.${address} }, unique_id: event.order_id }
retry: { attempts: 2, first: 1s, max: 1s }
`;

const SID = `SM${'1'.repeat(32)}`;
const EVERYBODY = [{ email: EMAIL }, { phone: PHONE }, { token: DEVICE }];
const STATUS = { MessageSid: SID, MessageStatus: 'undelivered', ErrorCode: '30007', ErrorMessage: repeated(PHONE) };

type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** Opens a shop that sends on three channels to scripted providers, which can be made to refuse with the words of the message. */
async function openFixture() {
  const folder = await mkdtemp(join(tmpdir(), 'canaries-'));
  const otlp = await startOtlpReceiver();
  const smtp = await startScriptedSmtp({
    script: ({ stage, raw }) =>
      stage === 'dot' && raw.includes('refuse') ? `550 5.7.1 ${repeated(EMAIL)}` : undefined,
  });
  let refuses = false;
  const twilio = await startScriptedTwilio();
  twilio.answers((response) =>
    refuses
      ? answerTwilio(400, { code: 21617, message: `${repeated(PHONE)}, says ${AUTH_TOKEN}` })(response)
      : answerTwilio(201, { sid: SID, status: 'queued' })(response),
  );
  const fcm = await startScriptedFcm();
  fcm.answers((stream) =>
    refuses
      ? answerFcm(400, { error: { code: 400, status: 'INVALID_ARGUMENT', message: repeated(DEVICE) } })(stream)
      : answerFcm(200, { name: 'projects/demo-app/messages/1' })(stream),
  );
  const [bouncesPort = 0] = await freePorts(1);
  const certificate = join(folder, 'fcm.pem');
  await writeFile(certificate, fcm.trusted.join(''));
  const shop = await openShop({
    files: filesOf(smtp.port, twilio.url, fcm.url),
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint,
      CARILLON_LOG_LEVEL: 'debug',
      TWILIO_TOKEN: AUTH_TOKEN,
      FCM_KEY_FILE: fcm.keyFile,
      NODE_EXTRA_CA_CERTS: certificate,
      CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1',
      CARILLON_BOUNCES_LISTEN: `127.0.0.1:${bouncesPort}`,
    },
  });
  const problems: string[] = [];
  return {
    shop,
    otlp,
    smtp,
    twilio,
    bouncesPort,
    /** What the product answered to what it refused. */
    problems,
    refuse: (): void => void (refuses = true),
    send: (id: string, to: object) => shop.send({ order_id: id, words: WORDS, code: CODE, ...to }),
    keep: (answer: { readonly status: number; readonly body: unknown }): void =>
      void problems.push(`${answer.status} ${JSON.stringify(answer.body)}`),
    /** Posts to the gateway as a provider does. */
    post: async (url: string, init: RequestInit, status: number): Promise<void> => {
      const answer = await fetch(url.replace(PUBLIC, shop.product.gatewayUrl), init);
      problems.push(`${answer.status} ${await answer.text()}`);
      expect(answer.status).toBe(status);
    },
    async close(): Promise<void> {
      await shop.close();
      await Promise.all([otlp.close(), smtp.stop(), twilio.stop(), fcm.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function filesOf(smtpPort: number, twilioUrl: string, fcmUrl: string): Readonly<Record<string, string>> {
  const { 'workspaces/shop/notifications/order-paid.yaml': _, ...files } = shopFiles({
    deployment: `public_url: ${PUBLIC}
accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${smtpPort}, tls: none, from: shop@example.com, return_path: bounces.example.com }
  sms: [{ name: main, kind: twilio, account_sid: ${TWILIO_ACCOUNT}, auth_token: { secret: TWILIO_TOKEN }, from: "+4915100000000", url: "${twilioUrl}" }]
  push: { kind: fcm, credentials: { secret: FCM_KEY_FILE }, url: "${fcmUrl}" }
`,
  });
  const text = '{{ order_id }} {{ words }} {{ code }}';
  return {
    ...files,
    'workspaces/shop/notifications/by-email.yaml': notification('email', 'email'),
    'workspaces/shop/notifications/by-sms.yaml': notification('sms', 'phone'),
    'workspaces/shop/notifications/by-push.yaml': notification('push', 'token'),
    'workspaces/shop/templates/order-paid/email.yaml': 'subject: "{{ order_id }}"\n',
    'workspaces/shop/templates/order-paid/email.txt': `${text}\n`,
    'workspaces/shop/templates/order-paid/sms.txt': `${text}\n`,
    'workspaces/shop/templates/order-paid/push.yaml': `title: "{{ order_id }}"\nbody: "${text}"\n`,
  };
}

/** Posts callbacks of Twilio: a status that says too much, forged ones, STOP, START and a reply, and receipts of unknown messages. */
async function postCallbacks({ twilio, post }: Fixture): Promise<void> {
  const address = twilio.received.find(({ method }) => method === 'POST')?.form.get('StatusCallback') ?? '';
  await post(address, signedByTwilio(address, { ...STATUS, To: PHONE, Body: WORDS }, 'guessed'), 401);
  await post(address, signedByTwilio(address, { ...STATUS, To: PHONE, Body: WORDS }, AUTH_TOKEN), 204);
  const inbound = `${PUBLIC}/receipts/twilio/-/main`;
  for (const [n, body] of ['STOP', WORDS, 'START'].entries()) {
    const form = { MessageSid: `SM${n}`, SmsStatus: 'received', From: PHONE, To: '+4915100000000', Body: body };
    await post(inbound, signedByTwilio(inbound, form, AUTH_TOKEN), 204);
  }
  const unknown = address.replace(/[^/]{8}$/, 'zzzzzzzz');
  await post(unknown, signedByTwilio(unknown, { ...STATUS, To: PHONE }, AUTH_TOKEN), 204);
  await post(`${PUBLIC}/receipts/sendgrid/-/main`, { method: 'POST', body: `[{"email":"${EMAIL}"}` }, 401);
}

/** Returns the mail to its sender, and a mail that was never sent. Lets the address in again afterwards. */
async function bounceMail({ shop, smtp, bouncesPort }: Fixture): Promise<void> {
  const sender = smtp.heard.find(({ stage }) => stage === 'mail')?.line.match(/<([^>]*)>/)?.[1] ?? '';
  const report = statusReport(EMAIL, '5.1.1', `550 5.1.1 ${repeated(EMAIL)}`);
  expect(await bringMail(bouncesPort, sender, report)).toMatch(/^250/);
  expect(await bringMail(bouncesPort, sender.replace(/.@/, '0@'), report)).toMatch(/^[25]50/);
  await untilFound('the mail has come back', async () =>
    (await shop.deliveries('&state=BOUNCED')).length > 0 ? true : undefined,
  );
  await shop.api('DELETE', `/v1/workspaces/shop/suppressions/email/${encodeURIComponent(EMAIL)}`);
}

/** Sends to invalid addresses, and asks for invalid lists and links. */
async function sendInvalid({ shop, send, keep }: Fixture): Promise<void> {
  for (const to of [
    { email: `${EMAIL}\r\nBcc: x@example.com` },
    { phone: `${PHONE}x` },
    { token: `${DEVICE}\u0007${WORDS}` },
  ])
    await shop.judged(await send('wrong', to));
  keep(await shop.api('POST', '/v1/workspaces/shop/suppressions', { channel: 'sms', address: `${PHONE}99999999` }));
  keep(await shop.api('POST', '/v1/workspaces/shop/suppressions', { channel: 'nobody', address: EMAIL }));
  keep(await request(`${shop.product.gatewayUrl}/u/${encodeURIComponent(EMAIL)}`, {}));
  expect(await shop.run(['doctor'])).toMatchObject({ stderr: '' });
}

/** Stops the product. Returns all that it wrote down about people. */
async function recordsOf({ shop, otlp, problems }: Fixture): Promise<Readonly<Record<string, string>>> {
  await untilFound('spans of attempts', () =>
    otlp.spans.some(({ name }) => name === 'delivery.attempt') ? true : undefined,
  );
  const metrics = await (await fetch(`${shop.product.controlUrl}/metrics`)).text();
  // Kept answers, as a person sees them who may not see messages.
  const results = (await shop.deliveries()).map((delivery) =>
    JSON.stringify(delivery, (key, value: unknown) => (['to', 'person', 'recipient'].includes(key) ? null : value)),
  );
  expect(results.join('\n')).toContain('<address>');
  expect(await shop.product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  const log = shop.product.stderr();
  expect(log.length).toBeGreaterThan(100);
  expect(otlp.spans.length).toBeGreaterThan(10);
  return {
    log,
    spans: spansAsText(otlp.spans),
    metrics,
    results: results.join('\n'),
    callbacks: problems.join('\n'),
  };
}

it('recipients of SMS, push and mail appear in no log, span, metric or stored answer, even if a provider repeats the request', async () => {
  const fixture = await openFixture();
  const { shop, send } = fixture;
  try {
    for (const to of EVERYBODY) await shop.delivered(await send('fine', to), 'SENT');
    await postCallbacks(fixture);
    await bounceMail(fixture);
    fixture.refuse();
    const refused = await Promise.all(
      EVERYBODY.map(async (to) => shop.delivered(await send('refused', to), 'FAILED', 'SUPPRESSED')),
    );
    expect(refused.map(({ state }) => state)).toContain('FAILED');
    await sendInvalid(fixture);
    expect(leaksOf(await recordsOf(fixture), CANARIES)).toEqual([]);
  } finally {
    await fixture.close();
  }
}, 240_000);
