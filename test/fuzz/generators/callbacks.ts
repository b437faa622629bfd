import type { Json } from '@carillon/kernel';
import type { Dice } from '../dice.ts';
import { CALLBACK_SECRET } from '../shop-files.ts';
import { jsonBytes } from './json-texts.ts';
import { mediaType, mostly, oddHeaders, oddMethod, pathPart, requestText, type Header } from './requests.ts';
import { bytesOf, hostileText } from './texts.ts';

const token = (dice: Dice): string =>
  mostly(dice, '0123456789abcdefghjkmnpqrs-1-0000000000', [hostileText(dice), '', '-', 'x'.repeat(5_000)], 0.4);
const words = (dice: Dice, good: string): string => mostly(dice, good, [hostileText(dice)], 0.2);

/** A record of Postmark, whose proof is the same for every body: what is behind the proof is reached. */
const postmark = (dice: Dice): Json => ({
  RecordType: words(dice, dice.pick(['Delivery', 'Bounce', 'SpamComplaint', 'Open', 'SubscriptionChange'])),
  MessageID: words(dice, `message-${dice.between(1, 1_000)}`),
  ID: dice.pick<Json>([1, 'x', null, 2 ** 60]),
  Type: dice.pick(['HardBounce', 'Transient', 'Blocked', '__proto__', 'constructor']),
  TypeCode: dice.between(-1, 1_000),
  Details: words(dice, 'smtp;550 5.1.1 no such user'),
  Description: words(dice, 'no such user'),
  DeliveredAt: dice.pick(['2026-01-31T08:00:00Z', 'yesterday', '275760-09-13T00:00:00.001Z', '']),
  Metadata: { carillon: token(dice) },
});

const OTHERS: Readonly<Record<string, (dice: Dice) => Json>> = {
  sendgrid: (dice) =>
    Array.from({ length: dice.pick([0, 1, 3_000]) }, () => ({ event: 'delivered', sg_event_id: 'e' })),
  mailgun: (dice) => ({
    signature: { timestamp: String(dice.between(0, 2 ** 31)), token: words(dice, 'x'), signature: words(dice, '00') },
    'event-data': { event: 'failed', id: 'e' },
  }),
  ses: (dice) => ({
    Type: dice.pick(['Notification', 'SubscriptionConfirmation']),
    MessageId: 'm',
    TopicArn: words(dice, 'arn:aws:sns:eu-central-1:123456789012:carillon'),
    Message: words(dice, '{}'),
    Timestamp: '2026-01-31T08:00:00.000Z',
    SignatureVersion: '2',
    Signature: words(dice, 'AAAA'),
    SigningCertURL: dice.pick([
      'https://sns.eu-central-1.amazonaws.com/x.pem',
      'https://sns.eu-central-1.amazonaws.com.example.com/x.pem',
      'http://127.0.0.1:9/x.pem',
      'file:///etc/passwd',
    ]),
    SubscribeURL: 'http://127.0.0.1:9/',
  }),
};

const status = (dice: Dice): string =>
  new URLSearchParams({
    MessageSid: words(dice, 'SM1').toWellFormed(),
    MessageStatus: dice.pick(['delivered', 'undelivered', 'failed', 'nonsense']),
    ErrorCode: dice.pick(['30005', '21610', '', 'x']),
    Body: words(dice, 'STOP').toWellFormed(),
    From: words(dice, '+4915112345678').toWellFormed(),
  }).toString();

/** What providers report, and what people who want no more click on, with slips. */
export function callbackRequest(dice: Dice): string {
  if (dice.chance(0.15)) return link(dice);
  const kind = dice.chance(0.6) ? 'postmark' : dice.pick([...Object.keys(OTHERS), 'twilio']);
  const json = kind === 'postmark' ? postmark(dice) : OTHERS[kind]?.(dice);
  const good = json === undefined ? status(dice) : JSON.stringify(json);
  const body = bytesOf(json === undefined || dice.chance(0.5) ? good : jsonBytes(dice, json));
  const account = kind === 'twilio' ? 'sms' : kind;
  const target = mostly(
    dice,
    `/receipts/${kind}/lab/${account}${dice.chance(0.3) ? `/${pathPart(dice, token(dice))}` : ''}`,
    [
      `/receipts/${kind}/shop/${account}`,
      `/receipts/${kind}/-/default`,
      `/receipts/toString/lab/${account}`,
      `/receipts/${kind}/lab/${pathPart(dice)}`,
      `/receipts/${kind}/${pathPart(dice)}/${account}`,
      `/receipts/${kind}`,
    ],
  );
  const basic = Buffer.from(CALLBACK_SECRET).toString('base64');
  const proof: readonly Header[] =
    kind === 'postmark'
      ? [['authorization', mostly(dice, `Basic ${basic}`, ['Basic', 'Basic Og==', 'Bearer {key}', '{owner}'])]]
      : [
          ['x-twilio-signature', mostly(dice, 'AAAA', ['', 'x'.repeat(5_000)])],
          ['x-twilio-email-event-webhook-signature', 'AAAA'],
          ['x-twilio-email-event-webhook-timestamp', dice.pick(['0', 'x', '1e999', '99999999999999999999'])],
        ];
  return requestText(oddMethod(dice, 'POST'), target, [...proof, mediaType(dice), ...oddHeaders(dice)], body);
}

function link(dice: Dice): string {
  const path = `/${dice.pick(['unsubscribe', 'preferences'])}/${pathPart(dice)}`;
  const type: Header = ['content-type', mostly(dice, 'application/x-www-form-urlencoded', ['application/json', ''])];
  const body = mostly(dice, 'List-Unsubscribe=One-Click', [bytesOf(hostileText(dice)), '', 'a=1&'.repeat(5_000)]);
  return dice.chance(0.4)
    ? requestText('GET', path, oddHeaders(dice))
    : requestText(oddMethod(dice, 'POST'), path, [type, ...oddHeaders(dice)], body);
}
