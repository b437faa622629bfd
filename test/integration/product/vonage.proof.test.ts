import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  APPLICATION,
  MESSAGE,
  PRIVATE_KEY,
  signedByVonage,
  startScriptedVonage,
} from '../../../libs/adapters/providers/vonage/test/scripted-vonage.ts';
import { openShop, order, shopFiles, type Shop } from './shop.ts';

/* A message goes out through the Messages API, and signed callbacks move it and stop later ones. */

const PUBLIC = 'https://notify.example.com';
const SIGNATURE = 'signature-secret';
const PHONE = '+4915112345678';

let vonage: Awaited<ReturnType<typeof startScriptedVonage>>;
let shop: Shop & { close(): Promise<void> };

beforeAll(async () => {
  vonage = await startScriptedVonage();
  const files = shopFiles({
    deployment: `backend: embedded
public_url: ${PUBLIC}
accounts:
  sms:
    - name: main
      kind: vonage
      application_id: ${APPLICATION}
      private_key: { secret: VONAGE_KEY }
      signature_secret: { secret: VONAGE_SIGNATURE }
      from: "+4915100000000"
      url: ${vonage.url}
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
    env: { VONAGE_KEY: PRIVATE_KEY, VONAGE_SIGNATURE: SIGNATURE },
  });
});
afterAll(async () => {
  await shop.close();
  await vonage.stop();
});

/** Posts a callback of Vonage for this public address to the gateway, and returns the status of the response. */
async function call(url: string, callback: object, secret = SIGNATURE): Promise<number> {
  const body = JSON.stringify(callback);
  const response = await fetch(url.replace(PUBLIC, shop.product.gatewayUrl), {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: signedByVonage(body, secret, Date.now()) },
  });
  return response.status;
}
const smsTo = (id: string): Promise<string> => shop.send(order(id, { phone: PHONE }));

it('a status that Vonage signed moves the message, and one that others signed does not', async () => {
  const event = await smsTo('o-1');
  await shop.delivered(event, 'SENT');
  const address = String(vonage.received.at(-1)?.message['webhook_url']);
  expect(address).toMatch(/^https:\/\/notify\.example\.com\/receipts\/vonage\/-\/main\/[0-9a-z]{26}-1-[0-9a-z]{10}$/);
  const status = { message_uuid: MESSAGE, channel: 'sms', status: 'delivered', timestamp: new Date().toISOString() };
  expect(await call(address, status, 'guessed')).toBe(401);
  expect(await call(address, status)).toBe(204);
  await shop.delivered(event, 'DELIVERED');
});

it('STOP holds every later message back, and START lets them go again', async () => {
  const inbound = (text: string, id: string) => ({
    message_uuid: id,
    channel: 'sms',
    message_type: 'text',
    from: PHONE.slice(1),
    to: '4915100000000',
    text,
  });
  const isSuppressed = async (): Promise<boolean> => (await shop.run(['suppressions', 'list'])).stdout.includes('stop');
  const address = `${PUBLIC}/receipts/vonage/-/main`;
  expect(await call(address, inbound('STOP', 'message-1'))).toBe(204);
  await untilFound('the number is on the list', async () => (await isSuppressed()) || undefined);
  await shop.delivered(await smsTo('o-2'), 'SUPPRESSED');
  expect(await call(address, inbound('START', 'message-2'))).toBe(204);
  await untilFound('the number is off the list', async () => !(await isSuppressed()) || undefined);
  await shop.delivered(await smsTo('o-3'), 'SENT');
});
