import { startScriptedTwilio, signedByTwilio, TWILIO_ACCOUNT, TWILIO_SID } from '@carillon/testing/providers';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  APPLICATION,
  MESSAGE,
  PRIVATE_KEY,
  signedByVonage,
  startScriptedVonage,
} from '../../../libs/adapters/providers/vonage/test/scripted-vonage.ts';
import { openShop, order, shopFiles, type Shop } from './shop.ts';

/* The way there and back over the HTTP of each SMS provider: a message names its report address, and callbacks move it. */

const PUBLIC = 'https://notify.example.com';
const SECRET = 'secret-of-the-signatures';
const SENDER = '+4915100000000';
const PHONE = '+4915112345678';

/** A scripted SMS provider, and the account and the callbacks that it needs. */
type Provider = {
  readonly url: string;
  /** Fields of the account beside name, kind, sender and address. */
  readonly account: string;
  readonly env: Readonly<Record<string, string>>;
  /** The report address in the request that came last. */
  reportAddress(): string;
  /** A callback that says that the message was delivered. */
  delivered(url: string, secret?: string): RequestInit;
  /** A callback that brings a text of the reader. */
  inbound(url: string, text: string, id: string): RequestInit;
  stop(): Promise<void>;
};

async function startTwilio(): Promise<Provider> {
  const twilio = await startScriptedTwilio();
  return {
    url: twilio.url,
    account: `account_sid: ${TWILIO_ACCOUNT}, auth_token: { secret: SMS_SECRET }`,
    env: { SMS_SECRET: SECRET },
    reportAddress: () => twilio.received.at(-1)?.form.get('StatusCallback') ?? '',
    delivered: (url, secret = SECRET) =>
      signedByTwilio(url, { MessageSid: TWILIO_SID, MessageStatus: 'delivered' }, secret),
    inbound: (url, text, id) =>
      signedByTwilio(url, { MessageSid: id, SmsStatus: 'received', From: PHONE, To: SENDER, Body: text }, SECRET),
    stop: twilio.stop,
  };
}

async function startVonage(): Promise<Provider> {
  const vonage = await startScriptedVonage();
  const signed = (callback: object, secret = SECRET): RequestInit => {
    const body = JSON.stringify({ channel: 'sms', ...callback });
    const headers = { 'content-type': 'application/json', authorization: signedByVonage(body, secret, Date.now()) };
    return { method: 'POST', body, headers };
  };
  return {
    url: vonage.url,
    account: `application_id: ${APPLICATION}, private_key: { secret: SMS_KEY }, signature_secret: { secret: SMS_SECRET }`,
    env: { SMS_KEY: PRIVATE_KEY, SMS_SECRET: SECRET },
    reportAddress: () => String(vonage.received.at(-1)?.message['webhook_url']),
    delivered: (_url, secret) =>
      signed({ message_uuid: MESSAGE, status: 'delivered', timestamp: new Date().toISOString() }, secret),
    inbound: (_url, text, id) =>
      signed({ message_uuid: id, message_type: 'text', from: PHONE.slice(1), to: SENDER.slice(1), text }),
    stop: vonage.stop,
  };
}

describe.each([
  ['twilio', startTwilio],
  ['vonage', startVonage],
] as const)('an account of %s', (kind, start) => {
  let provider: Provider;
  let shop: Shop & { close(): Promise<void> };

  beforeAll(async () => {
    provider = await start();
    const { url, account, env } = provider;
    const files = shopFiles({
      deployment: `backend: embedded
public_url: ${PUBLIC}
accounts:
  sms: [{ name: main, kind: ${kind}, ${account}, from: "${SENDER}", url: "${url}" }]
`,
    });
    const path = 'workspaces/shop/notifications/order-paid.yaml';
    shop = await openShop({
      files: {
        ...files,
        [path]: (files[path] ?? '')
          .replace('email: { template: order-paid }', 'sms: { template: order-paid }')
          .replace('to: { email: event.email }', 'to: { phone: event.phone }'),
        'workspaces/shop/templates/order-paid/sms.txt': 'Order {{ order_id }} is paid.\n',
      },
      env,
    });
  });
  afterAll(async () => {
    await shop?.close();
    await provider.stop();
  });

  /** Posts a callback for this public address to the gateway, and returns the status of the response. */
  const post = async (url: string, init: RequestInit): Promise<number> =>
    (await fetch(url.replace(PUBLIC, shop.product.gatewayUrl), init)).status;
  const smsTo = (id: string): Promise<string> => shop.send(order(id, { phone: PHONE }));

  it('moves a message by a status that the provider signed, and by no other', async () => {
    const event = await smsTo('o-1');
    await shop.delivered(event, 'SENT');
    const address = provider.reportAddress();
    expect(address).toMatch(
      new RegExp(`^https://notify\\.example\\.com/receipts/${kind}/-/main/[0-9a-z]{26}-1-[0-9a-z]{10}$`),
    );
    expect(await post(address, provider.delivered(address, 'guessed'))).toBe(401);
    expect(await post(address, provider.delivered(address))).toBe(204);
    await shop.delivered(event, 'DELIVERED');
  });

  it('sends nothing to a number after STOP, and sends again after START', async () => {
    const isSuppressed = async (): Promise<boolean> =>
      (await shop.run(['suppressions', 'list'])).stdout.includes('stop');
    const address = `${PUBLIC}/receipts/${kind}/-/main`;
    expect(await post(address, provider.inbound(address, 'STOP', 'message-1'))).toBe(204);
    await untilFound('the number is on the list', async () => (await isSuppressed()) || undefined);
    await shop.delivered(await smsTo('o-2'), 'SUPPRESSED');
    expect(await post(address, provider.inbound(address, 'START', 'message-2'))).toBe(204);
    await untilFound('the number is off the list', async () => !(await isSuppressed()) || undefined);
    await shop.delivered(await smsTo('o-3'), 'SENT');
  });
});
