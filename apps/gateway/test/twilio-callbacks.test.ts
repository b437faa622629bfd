import { createHmac } from 'node:crypto';
import { writeReceiptToken, type Receipt } from '@carillon/domain/receipts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import { beforeEach, afterEach, describe, expect, it } from 'vitest';
import type { RunningGateway } from '../src/index.ts';
import { prepareFixture, PUBLIC_URL, type Fixture } from './gateway-fixture.ts';

const DELIVERY = 'dlv_0123456789ABCDEFGHJKMNPQRS' as DeliveryId;
const ATTEMPT = 'att_0123456789ABCDEFGHJKMNPQRS' as AttemptId;

let fixture: Fixture;
let gateway: RunningGateway;
beforeEach(async () => {
  fixture = await prepareFixture();
  gateway = await fixture.start();
});
afterEach(() => fixture.stopGateways());

const token = (): string =>
  writeReceiptToken({ deliveryId: DELIVERY, attempt: 1, id: ATTEMPT }, (...parts) =>
    fixture.backend.ids.keyed(...parts),
  );

type Form = Readonly<Record<string, string>>;
const STATUS: Form = { MessageSid: 'SM1', MessageStatus: 'delivered', AccountSid: 'AC1' };
const inbound = (body: string, more: Form = {}): Form => ({
  MessageSid: 'SM2',
  SmsStatus: 'received',
  From: '+4915112345678',
  To: '+4915100000000',
  Body: body,
  ...more,
});

/** Twilio's own description of the signature, in words of this test's own. */
const sign = (url: string, form: Form, secret: string): string =>
  createHmac('sha1', secret)
    .update(
      url +
        Object.keys(form)
          .toSorted()
          .map((name) => name + form[name])
          .join(''),
    )
    .digest('base64');

async function send(
  path: string,
  form: Form,
  { secret = 'first-secret', url = `${PUBLIC_URL}/receipts/${path}`, signature = sign(url, form, secret) } = {},
) {
  const answer = await fetch(`${gateway.address}/receipts/${path}`, {
    method: 'POST',
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature },
  });
  return { status: answer.status, body: (await answer.text()).replace(/req_\w+/, '') };
}
async function appended(): Promise<readonly Receipt[]> {
  return (await fixture.records('carillon.receipts')).flatMap((record) => {
    const read = fixture.backend.codecs.receipt.decode(record.value);
    return read.ok ? [read.value] : [];
  });
}

describe('a status of Twilio', () => {
  it('signed for our public URL is logged before the response', async () => {
    expect(await send(`twilio/shop/sms/${token()}`, STATUS)).toEqual({ status: 204, body: '' });
    expect(await appended()).toMatchObject([
      { source: 'twilio', account: 'shop/sms', attempt: { deliveryId: DELIVERY, attempt: 1 }, verdict: 'delivered' },
    ]);
  });

  it('for an unreachable number suppresses it, and names the deployment account if that sent it', async () => {
    const failed = { ...STATUS, MessageStatus: 'undelivered', ErrorCode: '30005' };
    expect((await send(`twilio/-/main/${token()}`, failed)).status).toBe(204);
    expect(await appended()).toMatchObject([
      { account: 'default:sms:main', verdict: 'bounced', suppress: 'hard_bounce', code: '30005' },
    ]);
  });

  it('is refused identically for a missing or foreign signature, another URL, field, account or kind', async () => {
    const path = `twilio/shop/sms/${token()}`;
    const signed = sign(`${PUBLIC_URL}/receipts/${path}`, STATUS, 'first-secret');
    const answers = [
      await send(path, STATUS, { signature: '' }),
      await send(path, STATUS, { secret: 'second-secret' }),
      await send(path, STATUS, { url: `${gateway.address}/receipts/${path}` }),
      await send(path, { ...STATUS, MessageStatus: 'failed' }, { signature: signed }),
      await send(`twilio/shop/other/${token()}`, STATUS),
      await send(`twilio/shop/mailgun/${token()}`, STATUS),
      await send(`mailgun/shop/sms/${token()}`, STATUS),
      await send(`twilio/nowhere/sms/${token()}`, STATUS),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(await appended()).toEqual([]);
  });

  it('with a foreign token is logged without an attempt', async () => {
    expect((await send('twilio/shop/sms/0123456789abcdefghjkmnpqrs-1-0000000000', STATUS)).status).toBe(204);
    expect(await appended()).toMatchObject([{ attempt: null, inbound: null }]);
  });
});

describe('an inbound SMS', () => {
  it.each([
    ['Stop', {}, 'stop'],
    ['START', {}, 'start'],
    ['ja bitte', { OptOutType: 'STOP' }, 'stop'],
  ] as const)('%s is appended as a wish of its sender', async (words, more, wish) => {
    expect((await send('twilio/shop/sms', inbound(words, more))).status).toBe(204);
    expect(await appended()).toMatchObject([
      { account: 'shop/sms', attempt: null, inbound: { address: '+4915112345678', wish } },
    ]);
  });

  it('without a keyword is not stored', async () => {
    expect((await send('twilio/shop/sms', inbound('Where is my order?'))).status).toBe(204);
    expect(await appended()).toEqual([]);
  });

  it('is refused without its signature', async () => {
    expect((await send('twilio/shop/sms', inbound('STOP'), { secret: 'guessed' })).status).toBe(401);
    expect(await appended()).toEqual([]);
  });

  it('more than once is appended to one partition in order', async () => {
    for (const [sid, word] of [
      ['SM1', 'STOP'],
      ['SM2', 'START'],
      ['SM3', 'STOP'],
    ] as const)
      await send('twilio/shop/sms', inbound(word, { MessageSid: sid }));
    const records = await fixture.records('carillon.receipts');
    expect(new Set(records.map(({ partition }) => partition)).size).toBe(1);
    expect((await appended()).map((receipt) => receipt.inbound?.wish)).toEqual(['stop', 'start', 'stop']);
  });
});
