import { selfSigned } from '@carillon/testing';
import { createSign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSnsCertificateUrl, isSnsUrl, readSns, verifySns, type SnsMessage } from '../../src/receipts/index.ts';

/** The certificate below is valid around the moment at which it is made: a fixed time would leave it behind. */
const NOW = Date.now();
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:bounces';
const { cert: certificate, key: privateKey } = selfSigned('sns.amazonaws.com');

const NOTIFICATION = {
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: TOPIC,
  Subject: 'Amazon SES',
  Message: '{"eventType":"Delivery"}',
  Timestamp: new Date(NOW - 60_000).toISOString(),
  SignatureVersion: '2',
  SigningCertURL: 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem',
};
type Fields = Partial<Record<keyof typeof NOTIFICATION | 'SubscribeURL' | 'Token', string>>;

/** Signs by the page of AWS, in words of this test's own: names in alphabetical order, each with its value, in lines. */
function signed(changes: Fields = {}, after: Fields = {}): Uint8Array {
  const fields: Record<string, string | undefined> = { ...NOTIFICATION, ...changes };
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names.flatMap((name) => (fields[name] === undefined ? [] : [name, fields[name], ''])).join('\n');
  const lines = text.replaceAll('\n\n', '\n');
  const algorithm = fields['SignatureVersion'] === '1' ? 'sha1' : 'sha256';
  const Signature = createSign(algorithm).update(lines).sign(privateKey, 'base64');
  return Buffer.from(JSON.stringify({ ...fields, Signature, ...after }));
}

function read(body: Uint8Array): SnsMessage {
  const message = readSns(body);
  if (!message.ok) throw message.error;
  return message.value;
}
const holds = (body: Uint8Array, now = NOW): boolean => verifySns(read(body), TOPIC, certificate, now);

describe('a message of SNS', () => {
  it('with a signature of version 2 or 1 is proved, with and without a subject', () => {
    expect(holds(signed())).toBe(true);
    expect(holds(signed({ SignatureVersion: '1' }))).toBe(true);
    const { Subject: _, ...plain } = NOTIFICATION;
    expect(holds(signed({ ...plain, Subject: undefined as never }))).toBe(true);
  });

  it('that confirms a subscription says where, and is signed with that', () => {
    const SubscribeURL = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336';
    const body = signed({
      Type: 'SubscriptionConfirmation',
      Subject: undefined as never,
      SubscribeURL,
      Token: '2336',
    });
    expect(holds(body)).toBe(true);
    expect(read(body).subscribeUrl).toBe(SubscribeURL);
  });

  it('is not proved when it was changed, is for another topic, is a day old, or is signed by somebody else', () => {
    expect(holds(signed({}, { Message: '{"eventType":"Bounce"}' }))).toBe(false);
    expect(holds(signed({}, { Timestamp: new Date(NOW - 120_000).toISOString() }))).toBe(false);
    expect(holds(signed({ TopicArn: `${TOPIC}2` }))).toBe(false);
    expect(holds(signed({ Timestamp: new Date(NOW - 48 * 3_600_000).toISOString() }))).toBe(false);
    expect(verifySns(read(signed()), TOPIC, selfSigned('sns.amazonaws.com').cert, NOW)).toBe(false);
    expect(verifySns(read(signed()), TOPIC, 'no certificate', NOW)).toBe(false);
  });

  it.each([
    [
      'a certificate of a foreign host',
      { SigningCertURL: 'https://sns.eu-central-1.amazonaws.com.evil.example/x.pem' },
    ],
    [
      'a certificate without TLS',
      { SigningCertURL: 'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem' },
    ],
    ['what is no certificate of SNS', { SigningCertURL: 'https://sns.eu-central-1.amazonaws.com/x.pem' }],
    ['a version that there is not', { SignatureVersion: '3' }],
    ['a type that there is not', { Type: 'Order' }],
  ])('is refused with %s', (_, changes) => {
    const answer = readSns(signed(changes));
    expect(answer).toMatchObject({ ok: false, error: { code: 'invalid_request' } });
  });

  it.each([
    'https://user@sns.us-east-1.amazonaws.com/',
    'https://sns.us-east-1.amazonaws.com:8443/',
    'https://sns.us-east-1.amazonaws.com@evil.example/',
    'https://evil.example/sns.us-east-1.amazonaws.com',
    'https://xsns.us-east-1.amazonaws.com/',
    'file:///etc/passwd',
    '',
  ])('has no address like %s', (url) => {
    expect(isSnsUrl(url)).toBe(false);
  });

  it.each(['https://sns.us-east-1.amazonaws.com/', 'https://sns.cn-north-1.amazonaws.com.cn/x'])(
    'may have an address like %s',
    (url) => {
      expect(isSnsUrl(url)).toBe(true);
    },
  );

  it.each([
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-9c6465fa7f48f5cacd23014631ec1136.pem',
    'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem',
  ])('may have a certificate at %s', (url) => {
    expect(isSnsCertificateUrl(url)).toBe(true);
  });

  it.each([
    'https://sns.us-east-1.amazonaws.com/',
    'https://sns.us-east-1.amazonaws.com/?Action=GetTopicAttributes',
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem?x=1',
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem#x',
    'https://sns.us-east-1.amazonaws.com/a/SimpleNotificationService-1.pem',
    'https://sns.us-east-1.amazonaws.com/a/../SimpleNotificationService-1.pem',
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-.pem',
    'https://sns.us-east-1.amazonaws.com/simplenotificationservice-1.pem',
    'https://evil.example/SimpleNotificationService-1.pem',
  ])('has no certificate at %s', (url) => {
    expect(isSnsCertificateUrl(url)).toBe(false);
  });
});
