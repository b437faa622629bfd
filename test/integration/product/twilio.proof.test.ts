import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openShop, order, shopFiles, type Shop } from './shop.ts';

/* The way there and back over Twilio's HTTP: the message names where its status goes, and what comes from there moves it. */

const PUBLIC = 'https://notify.example.com';
const AUTH_TOKEN = 'auth-token';
const PHONE = '+4915112345678';
const SID = `SM${'1'.repeat(32)}`;

let twilio: Server;
const sent: URLSearchParams[] = [];
let shop: Shop & { close(): Promise<void> };

beforeAll(async () => {
  twilio = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const piece of request.setEncoding('utf8') as AsyncIterable<string>) text += piece;
      sent.push(new URLSearchParams(text));
      response
        .writeHead(201, { 'content-type': 'application/json' })
        .end(JSON.stringify({ sid: SID, status: 'queued' }));
    })();
  }).listen(0, '127.0.0.1');
  await once(twilio, 'listening');
  const { port } = twilio.address() as AddressInfo;
  const files = shopFiles({
    deployment: `backend: embedded
public_url: ${PUBLIC}
accounts:
  sms:
    - name: main
      kind: twilio
      account_sid: AC${'0'.repeat(32)}
      auth_token: { secret: TWILIO_TOKEN }
      from: "+4915100000000"
      url: http://127.0.0.1:${port}
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
    env: { TWILIO_TOKEN: AUTH_TOKEN },
  });
});
afterAll(async () => {
  await shop.close();
  twilio.closeAllConnections();
  twilio.close();
});

/** What Twilio would post to this public address, to the gateway behind it. */
async function calls(url: string, form: Readonly<Record<string, string>>, secret = AUTH_TOKEN): Promise<number> {
  const fields = Object.keys(form)
    .toSorted()
    .map((name) => name + form[name]);
  const answer = await fetch(url.replace(PUBLIC, shop.product.gatewayUrl), {
    method: 'POST',
    body: new URLSearchParams(form).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': createHmac('sha1', secret)
        .update(url + fields.join(''))
        .digest('base64'),
    },
  });
  return answer.status;
}
const smsTo = (id: string): Promise<string> => shop.send(order(id, { phone: PHONE }));

it('a status that Twilio signed moves the message that its address names, and one that others signed does not', async () => {
  const event = await smsTo('o-1');
  await shop.delivered(event, 'SENT');
  const callback = sent.at(-1)?.get('StatusCallback') ?? '';
  expect(callback).toMatch(/^https:\/\/notify\.example\.com\/receipts\/twilio\/-\/main\/[0-9a-z]{26}-1-[0-9a-z]{10}$/);
  const status = { MessageSid: SID, MessageStatus: 'delivered' };
  expect(await calls(callback, status, 'guessed')).toBe(401);
  expect(await calls(callback, status)).toBe(204);
  await shop.delivered(event, 'DELIVERED');
});

it('STOP to the number holds every later message back, and START lets them go again', async () => {
  const inbound = (words: string, sid: string) => ({
    MessageSid: sid,
    SmsStatus: 'received',
    From: PHONE,
    To: '+4915100000000',
    Body: words,
  });
  const suppressed = async (): Promise<boolean> => (await shop.run(['suppressions', 'list'])).stdout.includes('stop');
  const address = `${PUBLIC}/receipts/twilio/-/main`;
  expect(await calls(address, inbound('STOP', 'SM1'))).toBe(204);
  await untilFound('the number is on the list', async () => (await suppressed()) || undefined);
  await shop.delivered(await smsTo('o-2'), 'SUPPRESSED');
  expect(await calls(address, inbound('START', 'SM2'))).toBe(204);
  await untilFound('the number is off the list', async () => !(await suppressed()) || undefined);
  await shop.delivered(await smsTo('o-3'), 'SENT');
});
