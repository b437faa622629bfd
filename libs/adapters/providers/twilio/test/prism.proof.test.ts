import { startPrism, TWILIO_ACCOUNT, type Prism } from '@carillon/testing/providers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTwilioApi, type SmsRequest, type TwilioApi } from '../src/index.ts';

/*
 * Our requests against a server that none of us wrote: Prism, which knows Twilio's own OpenAPI description (cut to accounts and
 * messages) and answers 422 to what that does not allow.
 */

const DESCRIPTION = fileURLToPath(new URL('./twilio-messages.openapi.json', import.meta.url));
const TAKES = 300_000;
const sms: SmsRequest = {
  to: '+4915112345678',
  body: 'Your parcel is here & waits: 100 %',
  sender: { from: '+4930123456' },
  statusCallback: 'https://n.example.com/receipts/twilio/shop/main/abc-1-def',
  validity: 90_000,
};

let prism: Prism;
let api: TwilioApi;
beforeAll(async () => {
  prism = await startPrism(DESCRIPTION);
  api = createTwilioApi(
    { accountSid: TWILIO_ACCOUNT, user: TWILIO_ACCOUNT, password: 'token' },
    { url: prism.url, connections: 2, guard: null, trusted: [], now: () => Date.now() },
  );
}, TAKES);
afterAll(async () => {
  api?.close();
  await prism?.stop();
});
const never = (): AbortSignal => new AbortController().signal;

describe("Twilio's own description", () => {
  it.each<[string, Partial<SmsRequest>]>([
    ['from a number', {}],
    ['by a Messaging Service', { sender: { messagingService: `MG${'0'.repeat(32)}` } }],
    ['without a callback and a time to live', { statusCallback: null, validity: null }],
  ])('allows a message %s', async (_, more) => {
    const result = await api.send({ ...sms, ...more }, never());
    expect(result, prism.log()).toMatchObject({ verdict: 'accepted' });
  });

  it('allows how the list is asked for', async () => {
    expect(await api.list(sms.to, Date.now() - 300_000, never()), prism.log()).not.toBeNull();
  });

  it('refuses a message to nobody, so that what it allows means something', async () => {
    const answer = await fetch(`${prism.url}/2010-04-01/Accounts/${TWILIO_ACCOUNT}/Messages.json`, {
      method: 'POST',
      body: new URLSearchParams({ Body: 'Hi' }),
      headers: { authorization: `Basic ${btoa(`${TWILIO_ACCOUNT}:token`)}` },
    });
    expect(answer.status).toBe(422);
  });
});
