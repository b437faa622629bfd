import type { AccountOf } from '@carillon/domain/configuration';
import type { ChannelSender, RenderedMessage, SendContext } from '@carillon/ports';
import { createLoopbackGuard } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTwilioSenderFactory } from '../src/index.ts';
import {
  answerTwilio as answer,
  startScriptedTwilio,
  TWILIO_ACCOUNT as ACCOUNT,
  TWILIO_SID as SID,
} from '@carillon/testing/providers';

const NOW = Date.UTC(2026, 10, 22, 12);
const account: AccountOf<'twilio'> = {
  kind: 'twilio',
  account_sid: ACCOUNT,
  auth_token: { secret: 'TOKEN' },
  from: '+4930123',
};
const sms: RenderedMessage = { channel: 'sms', to: '+4915112345678', text: 'Your parcel is here' };
const context = (more: Partial<SendContext> = {}): SendContext => ({
  workspace: 'shop',
  deliveryId: 'dlv_1',
  attemptToken: 'token',
  receiptToken: '0123456789abcdefghjkmnpqrs-1-0123456789',
  reportTo: null,
  traceparent: null,
  notAfter: NOW + 90_000,
  signal: new AbortController().signal,
  ...more,
});

let twilio: Awaited<ReturnType<typeof startScriptedTwilio>>;
const open: ChannelSender[] = [];
beforeEach(async () => {
  twilio = await startScriptedTwilio();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((sender) => sender.close()));
  await twilio.stop();
});

function senderOf(more: Partial<AccountOf<'twilio'>> = {}, secrets: Record<string, string> = { TOKEN: 'token' }) {
  const factory = createTwilioSenderFactory({ clock: { now: () => NOW }, guard: createLoopbackGuard() });
  const sender = factory.create({ ...account, url: twilio.url, ...more }, secrets, '');
  open.push(sender);
  return sender;
}

describe('an account of Twilio', () => {
  it('sends the text from its number, with report address and remaining time to live', async () => {
    const reportTo = 'https://n.example.com/receipts/twilio/shop/main/tok';
    const result = await senderOf().send(sms, context({ reportTo }));
    expect(result).toMatchObject({ verdict: 'accepted', providerId: SID });
    expect(twilio.received.map(({ form }) => Object.fromEntries(form))).toEqual([
      { To: sms.to, Body: sms.text, From: '+4930123', StatusCallback: reportTo, ValidityPeriod: '90' },
    ]);
    expect(twilio.received[0]?.authorization).toBe(`Basic ${btoa(`${ACCOUNT}:token`)}`);
  });

  it('signs in with its API key if it has one, and sends by its Messaging Service', async () => {
    const { from: _from, ...rest } = account;
    const key = { sid: 'SK01', secret: { secret: 'KEY' } };
    const factory = createTwilioSenderFactory({ clock: { now: () => NOW }, guard: createLoopbackGuard() });
    const body = { ...rest, url: twilio.url, api_key: key, messaging_service: 'MG01' };
    const sender = factory.create(body, { KEY: 'of the key' }, '');
    open.push(sender);
    await sender.send(sms, context());
    expect(twilio.received[0]?.authorization).toBe(`Basic ${btoa('SK01:of the key')}`);
    expect(twilio.received[0]?.form.get('MessagingServiceSid')).toBe('MG01');
  });

  it('refuses a text of more segments than allowed before anything is sent', async () => {
    const text = 'x'.repeat(153 * 2 + 1);
    const refused = await senderOf({ max_segments: 2 }).send({ ...sms, text }, context());
    expect(refused.verdict).toBe('refused_content');
    expect(refused.detail).toMatch(/3 segments.*at most 2/);
    expect((await senderOf({ max_segments: 3 }).send({ ...sms, text }, context())).verdict).toBe('accepted');
    expect(twilio.received).toHaveLength(1);
  });

  it('sends only to the numbers that it allows', async () => {
    const sender = senderOf({ allow: ['+43', '+49'] });
    expect((await sender.send(sms, context())).verdict).toBe('accepted');
    expect(await sender.send({ ...sms, to: '+15550100123' }, context())).toMatchObject({ verdict: 'refused_content' });
    expect(twilio.received).toHaveLength(1);
  });

  it('refuses messages of other channels', async () => {
    const push = { channel: 'push', to: 'a:b', title: 'Hi', body: null, image: null, link: null, data: {} } as const;
    const message = { ...push, priority: null, collapse: null, androidChannel: null, apnsSound: null };
    expect(await senderOf().send(message, context())).toMatchObject({ verdict: 'refused_account', alert: true });
    expect(twilio.received).toHaveLength(0);
  });

  it('without a value of its secret refuses the message, names the secret, and sends nothing', async () => {
    const sender = senderOf({}, {});
    expect(await sender.send(sms, context())).toMatchObject({
      verdict: 'refused_account',
      alert: true,
      detail: 'The secret TOKEN has no value.',
    });
    expect(await sender.check()).toEqual([{ step: 'secret', ok: false, detail: 'The secret TOKEN has no value.' }]);
    expect(twilio.received).toHaveLength(0);
  });

  it('of a workspace is reached without TLS only if the deployment lists the address', async () => {
    const unlisted = {
      resolve: async () => ({ ok: true, value: [{ address: '127.0.0.1', family: 4, listed: false, isPublic: true }] }),
    };
    const factory = createTwilioSenderFactory({ clock: { now: () => NOW }, guard: unlisted as never });
    const url = `http://sms.example.com:${new URL(twilio.url).port}`;
    const sender = factory.create({ ...account, url }, { TOKEN: 'token' }, 'shop');
    open.push(sender);
    expect(await sender.send(sms, context())).toMatchObject({ verdict: 'transient', alert: true });
    expect(twilio.received).toHaveLength(0);
  });

  it('is checked by reading the account, which sends nothing', async () => {
    twilio.answers(answer(200, { sid: ACCOUNT, status: 'active' }));
    expect(await senderOf().check()).toEqual([{ step: 'sign in', ok: true, detail: 'the account is active' }]);
    twilio.answers(answer(401, { code: 20003, message: 'Authenticate' }));
    expect(await senderOf().check()).toEqual([{ step: 'sign in', ok: false, detail: 'Authenticate' }]);
    expect(twilio.received.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  it('finds messages with the same text and sender in Twilio’s list, and nothing if the list is full', async () => {
    const listed = (sid: string, more: object = {}) => ({
      sid,
      from: account.from ?? null,
      messaging_service_sid: null,
      body: sms.text,
      status: 'sent',
      date_created: 'Sun, 22 Nov 2026 11:59:58 +0000',
      ...more,
    });
    const messages = [listed('SM1'), listed('SM2', { body: 'other words' }), listed('SM3', { from: '+1' })];
    twilio.answers(answer(200, { messages, page_size: 100 }));
    const find = () => senderOf().find?.(sms, NOW, new AbortController().signal);
    expect(await find()).toEqual([
      { source: 'twilio', providerId: 'SM1', createdAt: Date.UTC(2026, 10, 22, 11, 59, 58) },
    ]);
    const full = Array.from({ length: 100 }, (_, at) => listed(`SM${at}`));
    twilio.answers(answer(200, { messages: full, page_size: 100 }));
    expect(await find()).toBeNull();
    twilio.answers(answer(500, {}));
    expect(await find()).toBeNull();
  });

  it('closes after its calls have ended, and accepts no more', async () => {
    const sender = senderOf();
    const call = sender.send(sms, context());
    await Promise.all([sender.close(), sender.close()]);
    expect((await call).verdict).toBe('accepted');
    expect(await sender.send(sms, context())).toMatchObject({ verdict: 'transient', code: 'stopped' });
    expect(twilio.received).toHaveLength(1);
  });

  it('sends nothing if it is stopped before it began', async () => {
    const result = await senderOf().send(sms, context({ signal: AbortSignal.abort() }));
    expect(result).toMatchObject({ verdict: 'transient', code: 'stopped' });
    expect(twilio.received).toHaveLength(0);
  });
});
