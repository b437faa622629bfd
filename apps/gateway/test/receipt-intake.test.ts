import { createHmac, sign } from 'node:crypto';
import { writeReceiptToken, type Receipt } from '@carillon/domain/receipts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import type { LogRecord } from '@carillon/ports';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningGateway } from '../src/index.ts';
import { prepareFixture, SENDGRID, type Fixture } from './gateway-fixture.ts';

const DELIVERY = 'dlv_0123456789ABCDEFGHJKMNPQRS' as DeliveryId;
const ATTEMPT = 'att_0123456789ABCDEFGHJKMNPQRS' as AttemptId;

let fixture: Fixture;
let gateway: RunningGateway;
let before: ReadonlySet<string>;
const placeOf = ({ partition, offset }: LogRecord): string => `${partition}@${offset}`;
beforeAll(async () => {
  fixture = await prepareFixture();
});
beforeEach(async () => {
  gateway = await fixture.start();
  before = new Set((await fixture.records('carillon.receipts')).map(placeOf));
});
afterEach(() => fixture.stopGateways());

const tokenFor = (attempt: number): string =>
  writeReceiptToken({ deliveryId: DELIVERY, attempt, id: ATTEMPT }, (...parts) => fixture.backend.ids.keyed(...parts));

type Headers = Readonly<Record<string, string>>;
async function send(path: string, body: string, headers: Headers = {}) {
  const answer = await fetch(`${gateway.address}/receipts/${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: answer.status, body: await answer.text() };
}
/** What this test put on the log. */
async function appended(): Promise<readonly Receipt[]> {
  const records = (await fixture.records('carillon.receipts')).filter((record) => !before.has(placeOf(record)));
  return records.flatMap((record) => {
    const read = fixture.backend.codecs.receipt.decode(record.value);
    return read.ok ? [read.value] : [];
  });
}

let proofs = 0;
function mailgun(event: object, key = 'first-secret', token = `token-${(proofs += 1)}`): string {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', key)
    .update(timestamp + token)
    .digest('hex');
  return JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event });
}
function sendgrid(events: readonly object[]): readonly [string, Headers] {
  const body = JSON.stringify(events);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign('sha256', Buffer.from(timestamp + body), SENDGRID.privateKey).toString('base64');
  return [
    body,
    {
      'x-twilio-email-event-webhook-timestamp': timestamp,
      'x-twilio-email-event-webhook-signature': signature,
    },
  ];
}
const postmark = (record: object): string =>
  JSON.stringify({ RecordType: 'Delivery', MessageID: 'pm-1', Metadata: { carillon: tokenFor(1) }, ...record });
const BASIC = { authorization: `Basic ${Buffer.from('user:pass').toString('base64')}` };

describe('a report with its proof', () => {
  it('of Mailgun is logged before the response, with the attempt that its token names', async () => {
    const event = { id: 'e1', event: 'delivered', 'user-variables': { carillon: tokenFor(2) } };
    expect(await send('mailgun/shop/mailgun', mailgun(event))).toEqual({ status: 204, body: '' });
    expect(await appended()).toMatchObject([
      {
        source: 'mailgun',
        account: 'shop/mailgun',
        attempt: { deliveryId: DELIVERY, attempt: 2, tag: 'pqrs' },
        verdict: 'delivered',
      },
    ]);
  });

  it('of SendGrid may hold many events, each with an id of its own', async () => {
    const events = [1, 2, 3].map((n) => ({ sg_event_id: `e${n}`, event: 'delivered', carillon: tokenFor(n) }));
    const [body, headers] = sendgrid(events);
    expect((await send('sendgrid/shop/sendgrid', body, headers)).status).toBe(204);
    const receipts = await appended();
    expect(receipts.map(({ attempt }) => attempt?.attempt)).toEqual(expect.arrayContaining([1, 2, 3]));
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(3);
  });

  it('that comes twice has the same id twice', async () => {
    const body = postmark({});
    await send('postmark/shop/postmark', body, BASIC);
    await send('postmark/shop/postmark', body, BASIC);
    const ids = (await appended()).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it.each([
    ['no token', undefined],
    ['a token of another deployment', '0123456789abcdefghjkmnpqrs-1-0000000000'],
  ])('and %s is appended without an attempt, so that a person sees it', async (_, carillon) => {
    expect((await send('postmark/shop/postmark', postmark({ Metadata: { carillon } }), BASIC)).status).toBe(204);
    expect(await appended()).toMatchObject([{ attempt: null, verdict: 'delivered' }]);
  });

  it('that is no report is refused in words that the provider’s page can show', async () => {
    expect(await send('postmark/shop/postmark', '{"hello":1}', BASIC)).toMatchObject({ status: 400 });
    expect(await send('postmark/shop/postmark', '{"a":1,"a":2}', BASIC)).toMatchObject({ status: 400 });
    expect(await appended()).toEqual([]);
  });
});

describe('a report without proof', () => {
  const event = { id: 'e1', event: 'delivered' };

  it('is refused alike whatever is wrong: address, kind, workspace, account, secret, signature, size', async () => {
    const good = mailgun(event);
    const answers = [
      await send('mailgun/shop/nobody', good),
      await send('mailgun/nowhere/mailgun', good),
      await send('postmark/shop/mailgun', good),
      await send('toString/shop/mailgun', good),
      await send('mailgun/-/default', good),
      await send('mailgun/shop/unset', good),
      await send('mailgun/shop/mailgun', mailgun(event, 'wrong')),
      await send('mailgun/shop/mailgun', '{}'),
      await send('mailgun/shop/mailgun', `"${'x'.repeat(1024 * 1024)}"`),
      await send('sendgrid/shop/sendgrid', '[]'),
      await send('postmark/shop/postmark', postmark({})),
      await send('ses/shop/ses', '{"Type":"Notification"}'),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, at) => (at === 8 ? 413 : 401)));
    const bodies = answers.filter((_, at) => at !== 8).map(({ body }) => body.replace(/req_\w+/, ''));
    expect(new Set(bodies).size).toBe(1);
    expect(await appended()).toEqual([]);
    expect(fixture.logged.join('\n')).not.toContain('first-secret');
  });

  it('that reuses a Mailgun signature for another body is refused; a repeat by Mailgun is accepted', async () => {
    const first = mailgun(event, 'first-secret', 'once');
    expect((await send('mailgun/shop/mailgun', first)).status).toBe(204);
    expect((await send('mailgun/shop/mailgun', first)).status).toBe(204);
    const swapped = JSON.stringify({ ...JSON.parse(first), 'event-data': { id: 'e2', event: 'complained' } });
    expect((await send('mailgun/shop/mailgun', swapped)).status).toBe(401);
  });

  it('about a topic of another account triggers no request of ours', async () => {
    const body = JSON.stringify({
      Type: 'SubscriptionConfirmation',
      MessageId: 'm',
      TopicArn: 'arn:aws:sns:eu-central-1:999999999999:theirs',
      Message: 'x',
      Token: 't',
      Timestamp: new Date().toISOString(),
      SignatureVersion: '2',
      Signature: 'AAAA',
      SigningCertURL: 'https://sns.eu-central-1.amazonaws.com/x.pem',
      SubscribeURL: 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription',
    });
    expect((await send('ses/shop/ses', body, { 'content-type': 'text/plain; charset=UTF-8' })).status).toBe(401);
  });
});

it('gets 503 if the log is unavailable, so that the provider retries', async () => {
  await fixture.stopGateways();
  const log = { ...fixture.backend.log, append: () => Promise.reject(new Error('no disk')) };
  gateway = await fixture.start({}, { log });
  const answer = await send('postmark/shop/postmark', postmark({}), BASIC);
  expect(answer).toMatchObject({ status: 503 });
  expect(answer.body).toContain('log_unavailable');
});

describe('an oversized or foreign callback', () => {
  it('of 10 MB is refused before it is read, and appends nothing', async () => {
    const answer = await send('sendgrid/shop/sendgrid', 'x'.repeat(10 * 1024 * 1024)).catch(() => ({ status: 413 }));
    expect(answer.status).toBe(413);
    expect(await appended()).toEqual([]);
  });

  it('with 10,000 events is refused as a whole, also with a valid signature', async () => {
    const events = Array.from({ length: 10_000 }, (_, at) => ({ sg_event_id: `e${at}`, event: 'open' }));
    const [body, headers] = sendgrid(events);
    const answer = await send('sendgrid/shop/sendgrid', body, headers);
    expect([answer.status, answer.body.includes('2000 events')]).toEqual([413, true]);
    expect(await appended()).toEqual([]);
  });

  it('signed a day ago is refused', async () => {
    const body = '[]';
    const timestamp = String(Math.floor(Date.now() / 1000) - 25 * 3600);
    const signature = sign('sha256', Buffer.from(timestamp + body), SENDGRID.privateKey).toString('base64');
    const headers = {
      'x-twilio-email-event-webhook-timestamp': timestamp,
      'x-twilio-email-event-webhook-signature': signature,
    };
    expect((await send('sendgrid/shop/sendgrid', body, headers)).status).toBe(401);
  });

  it('that another account of the same provider signed is refused', async () => {
    const event = { id: 'e1', event: 'delivered' };
    expect((await send('mailgun/shop/other-mailgun', mailgun(event, 'first-secret'))).status).toBe(401);
    expect((await send('mailgun/shop/other-mailgun', mailgun(event, 'second-secret'))).status).toBe(204);
  });

  it('whose Mailgun signature another account with the same key has used is accepted once per account', async () => {
    const first = mailgun({ id: 'e1', event: 'delivered' }, 'first-secret', 'shared');
    expect((await send('mailgun/shop/mailgun', first)).status).toBe(204);
    const other = JSON.stringify({ ...JSON.parse(first), 'event-data': { id: 'e2', event: 'delivered' } });
    expect((await send('mailgun/shop/twin-mailgun', other)).status).toBe(204);
    expect((await send('mailgun/shop/twin-mailgun', first)).status).toBe(401);
  });
});
