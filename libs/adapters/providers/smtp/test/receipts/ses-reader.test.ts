import type { AccountOf } from '@carillon/domain/configuration';
import { ok } from '@carillon/kernel';
import type { OutboundHttp, ReceiptReading } from '@carillon/ports';
import { selfSigned } from '@carillon/testing';
import { createSign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMailReceiptReader } from '../../src/receipts/index.ts';

/** The certificate below is valid around the moment at which it is made: a fixed time would leave it behind. */
const NOW = Date.now();
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:bounces';
const CERTIFICATE = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem';
const CONFIRM = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336';
const { cert, key } = selfSigned('sns.amazonaws.com');

/** What is fetched through the guard, and what is there. */
function network(confirmed = 200) {
  const fetched: string[] = [];
  const http: Pick<OutboundHttp, 'request'> = {
    request: async ({ url }) => {
      fetched.push(url);
      const status = url === CONFIRM ? confirmed : 200;
      return ok({ status, headers: {}, body: Buffer.from(url === CERTIFICATE ? cert : '') });
    },
  };
  return {
    fetched,
    readers: createMailReceiptReader({
      http,
      clock: { now: () => NOW },
      leases: { acquire: () => Promise.reject(new Error('not asked')) },
    }),
  };
}

const subscription = (more: Readonly<Record<string, string>> = {}): Uint8Array => {
  const fields: Readonly<Record<string, string>> = {
    Type: 'SubscriptionConfirmation',
    MessageId: 'm1',
    TopicArn: TOPIC,
    Token: '2336',
    Message: 'You have chosen to subscribe',
    SubscribeURL: CONFIRM,
    Timestamp: new Date(NOW - 60_000).toISOString(),
    SignatureVersion: '2',
    SigningCertURL: CERTIFICATE,
    ...more,
  };
  const names = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names.map((name) => `${name}\n${fields[name]}\n`).join('');
  return Buffer.from(JSON.stringify({ ...fields, Signature: createSign('sha256').update(text).sign(key, 'base64') }));
};
const ACCOUNT: AccountOf<'smtp'> = {
  kind: 'smtp',
  host: 'mx.example.com',
  port: 587,
  from: 'shop@example.com',
  receipts: { kind: 'ses', topic: TOPIC },
};
const read = (readers: ReturnType<typeof createMailReceiptReader>, body: Uint8Array): Promise<ReceiptReading> =>
  readers.read({ account: 'shop/ses', url: null, token: null, headers: {}, body }, ACCOUNT, null);

describe('a subscription of the account’s own topic', () => {
  it('is confirmed automatically through the guard, and has no report', async () => {
    const { fetched, readers } = network();
    expect(await read(readers, subscription())).toEqual({ kind: 'proved', reports: { ok: true, value: [] } });
    expect(fetched).toEqual([CERTIFICATE, CONFIRM]);
  });

  it('that cannot be confirmed now is retried', async () => {
    const { readers } = network(500);
    expect(await read(readers, subscription())).toMatchObject({ kind: 'unavailable' });
  });

  it.each([
    ['whose certificate is at a foreign host', { SigningCertURL: 'https://sns.evil.example/x.pem' }],
    [
      'whose confirmation is at a foreign host',
      { SubscribeURL: 'https://sns.evil.example/?Action=ConfirmSubscription' },
    ],
    ['of a foreign topic', { TopicArn: 'arn:aws:sns:eu-central-1:999999999999:theirs' }],
  ])('%s is unproved, and no confirmation is fetched', async (_, more) => {
    const { fetched, readers } = network();
    expect(await read(readers, subscription(more))).toEqual({ kind: 'unproved' });
    expect(fetched).toEqual([]);
  });

  it('that was signed two days ago is not confirmed', async () => {
    const { fetched, readers } = network();
    expect(await read(readers, subscription({ Timestamp: new Date(NOW - 48 * 3_600_000).toISOString() }))).toEqual({
      kind: 'unproved',
    });
    expect(fetched).toEqual([CERTIFICATE]);
  });
});
