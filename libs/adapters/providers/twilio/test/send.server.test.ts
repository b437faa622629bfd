import type { AddressGuard } from '@carillon/ports';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTwilioApi, type SmsRequest, type TwilioApi, type TwilioApiOptions } from '../src/index.ts';
import {
  answerTwilio as answer,
  startScriptedTwilio,
  TWILIO_ACCOUNT as ACCOUNT,
  TWILIO_SID as SID,
} from '@carillon/testing/providers';
import { ANSWERS } from './answers.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const CREDENTIALS = { accountSid: ACCOUNT, user: 'SK1', password: 'secret' };
const SMS: SmsRequest = {
  to: '+4915112345678',
  body: 'Your parcel is here: 10 € & more',
  sender: { from: '+4930123' },
  statusCallback: null,
  validity: null,
};

let twilio: Awaited<ReturnType<typeof startScriptedTwilio>>;
const apis: TwilioApi[] = [];
beforeEach(async () => {
  twilio = await startScriptedTwilio();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.doUnmock('twilio');
  for (const api of apis.splice(0)) api.close();
  await twilio.stop();
});

function open(options: Partial<TwilioApiOptions> = {}): TwilioApi {
  const all = { connections: 4, guard: null, trusted: [], url: twilio.url, now: () => NOW, ...options };
  const api = createTwilioApi(CREDENTIALS, all);
  apis.push(api);
  return api;
}
const never = (): AbortSignal => new AbortController().signal;
const send = (sms: Partial<SmsRequest> = {}, options: Partial<TwilioApiOptions> = {}) =>
  open(options).send({ ...SMS, ...sms }, never());

describe('an SMS', () => {
  it('is one request with the unchanged message', async () => {
    const result = await send({
      statusCallback: 'https://n.example.com/receipts/twilio/shop/main/tok',
      validity: 90_500,
    });
    expect(result).toMatchObject({ verdict: 'accepted', providerId: SID });
    expect(twilio.received).toHaveLength(1);
    const [{ method, path, form, authorization }] = twilio.received as [(typeof twilio.received)[0]];
    expect([method, path]).toEqual(['POST', `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`]);
    expect(authorization).toBe(`Basic ${Buffer.from('SK1:secret').toString('base64')}`);
    expect(Object.fromEntries(form)).toEqual({
      To: SMS.to,
      Body: SMS.body,
      From: '+4930123',
      StatusCallback: 'https://n.example.com/receipts/twilio/shop/main/tok',
      ValidityPeriod: '90',
    });
  });

  it('is sent by a Messaging Service instead of a number if one is configured', async () => {
    await send({ sender: { messagingService: 'MG1' } });
    expect(Object.fromEntries(twilio.received[0]?.form ?? [])).toMatchObject({ MessagingServiceSid: 'MG1' });
  });

  it.each([
    [
      'a refused number',
      400,
      { code: 21211, message: 'Invalid To' },
      { verdict: 'refused_recipient', suppress: 'hard_bounce', code: '21211' },
    ],
    [
      'somebody who said STOP',
      400,
      { code: 21610, message: 'unsubscribed' },
      { verdict: 'refused_recipient', suppress: 'stop', code: '21610' },
    ],
    [
      'wrong credentials',
      401,
      { code: 20003, message: 'Authenticate' },
      { verdict: 'refused_account', alert: true, suppress: null },
    ],
    ['a 500', 500, { message: 'oops' }, { verdict: 'ambiguous', code: '500' }],
    ['a 502 in HTML', 502, '<html>Bad gateway</html>', { verdict: 'ambiguous', detail: 'Twilio answered 502' }],
    ['an acceptance without an id', 201, {}, { verdict: 'ambiguous' }],
    ['an acceptance that is no JSON', 200, 'ok', { verdict: 'ambiguous' }],
    ['a redirect', 302, '', { verdict: 'refused_account' }],
  ])('that meets %s is judged', async (_, status, body, expected) => {
    twilio.answers(answer(status, body, status === 302 ? { location: `${twilio.url}/elsewhere` } : {}));
    expect(await send()).toMatchObject(expected);
    expect(twilio.received).toHaveLength(1);
  });

  it.each(ANSWERS)(
    'with the response %s and code %s is %s over HTTP, suppressed: %s, and is sent once',
    async (...row) => {
      const [status, code, verdict, suppress] = row;
      twilio.answers(answer(status, { ...(code !== null && { code }), message: 'said Twilio', status }));
      expect(await send()).toMatchObject({ verdict, suppress, code: String(code ?? status) });
      expect(twilio.received).toHaveLength(1);
    },
  );

  it.each([
    ['30', NOW + 30_000],
    ['Sun, 22 Nov 2026 12:01:00 GMT', NOW + 60_000],
    ['99999999', null],
    ['soon', null],
  ])('that is throttled waits as long as Retry-After says: %s', async (after, retryAt) => {
    twilio.answers(answer(429, { code: 20429, message: 'Too many' }, { 'retry-after': after }));
    expect(await send()).toMatchObject({ verdict: 'throttled', retryAt });
    expect(twilio.received).toHaveLength(1);
  });

  it('of which no byte was sent was definitely not accepted', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await new Promise((done) => closed.close(done));
    expect(await send({}, { url: `http://127.0.0.1:${port}` })).toMatchObject({ verdict: 'transient' });
  });

  it('to a server without TLS was definitely not accepted, and raises an alert', async () => {
    const result = await send({}, { url: twilio.url.replace('http', 'https') });
    expect(result).toMatchObject({ verdict: 'transient', alert: true });
    expect(twilio.received).toHaveLength(0);
  });

  const halfAnAnswer = (response: ServerResponse): void => {
    response.writeHead(201, { 'content-length': '500' }).write('{"sid":', () => response.destroy());
  };
  it.each([
    ['before an answer', (response: ServerResponse): unknown => response.destroy()],
    ['in the midst of one', halfAnAnswer],
  ])('whose connection ends %s is in doubt, and is not sent again', async (_, script) => {
    twilio.answers(script);
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
    expect(twilio.received).toHaveLength(1);
  });

  it('whose response is late is in doubt', async () => {
    twilio.answers(() => undefined);
    const result = await send({}, { limits: { answer: 50 } });
    expect(result).toMatchObject({ verdict: 'ambiguous', detail: 'The server did not answer in time.' });
  });

  it('whose response does not end is in doubt', async () => {
    twilio.answers((response) => void response.writeHead(201).write('x'.repeat(10_000)));
    expect(await send({}, { limits: { bytes: 1_000 } })).toMatchObject({ verdict: 'ambiguous' });
  });

  it('that was stopped before it began is not sent; a running one is awaited', async () => {
    expect(await open().send(SMS, AbortSignal.abort())).toMatchObject({ verdict: 'transient', code: 'stopped' });
    expect(twilio.received).toHaveLength(0);
    const stop = new AbortController();
    twilio.answers((response) => {
      stop.abort();
      answer(201, { sid: SID })(response);
    });
    expect(await open().send(SMS, stop.signal)).toMatchObject({ verdict: 'accepted' });
  });

  it('is definitely not sent if the library cannot be loaded, and the next call loads it again', async () => {
    vi.doMock('twilio', () => {
      throw new Error('too many open files');
    });
    const api = open();
    expect(await api.send(SMS, never())).toMatchObject({ verdict: 'transient', alert: true });
    expect(await api.list(SMS.to, NOW, never())).toBeNull();
    expect(await api.check(never())).toMatchObject({ ok: false });
    vi.doUnmock('twilio');
    expect(await api.send(SMS, never())).toMatchObject({ verdict: 'accepted' });
    expect(twilio.received).toHaveLength(1);
  });

  it('reuses a connection', async () => {
    const api = open();
    for (let each = 0; each < 5; each += 1) expect(await api.send(SMS, never())).toMatchObject({ verdict: 'accepted' });
    expect(twilio.connections()).toBe(1);
  });
});

describe('the address of a workspace’s own account', () => {
  const refusing: AddressGuard = {
    resolve: () => Promise.resolve({ ok: false, error: { reason: 'refused_address', detail: '' } }),
  };
  const toHere: AddressGuard = {
    resolve: () =>
      Promise.resolve({ ok: true, value: [{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }] }),
  };

  it('is checked by the guard, whether it is a name or an IP address', async () => {
    const { port } = new URL(twilio.url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', 'sms.example.com']) {
      const result = await send({}, { url: `http://${host}:${port}`, guard: refusing });
      expect(result).toMatchObject({ verdict: 'transient', alert: true });
    }
    expect(twilio.received).toHaveLength(0);
  });

  it('is the one in the account, whatever the library’s environment says', async () => {
    vi.stubEnv('TWILIO_EDGE', 'sydney');
    vi.stubEnv('TWILIO_REGION', 'au1');
    const asked: string[] = [];
    const guard: AddressGuard = { resolve: (host) => (asked.push(host), toHere.resolve(host)) };
    const { port } = new URL(twilio.url);
    const hosts = ['api.sms.eu.proxy.example.com', 'sms.example.com'];
    for (const host of hosts) {
      const url = `http://${host}:${port}/twilio`;
      expect(await send({}, { url, guard })).toMatchObject({ verdict: 'accepted' });
      expect(twilio.received.at(-1)?.path).toBe(`/twilio/2010-04-01/Accounts/${ACCOUNT}/Messages.json`);
    }
    expect([...new Set(asked)]).toEqual(hosts);
  });

  it('is connected at the address that the guard returns', async () => {
    const { port } = new URL(twilio.url);
    const result = await send({}, { url: `http://sms.example.com:${port}`, guard: toHere });
    expect(result).toMatchObject({ verdict: 'accepted' });
  });
});

describe('the message list of Twilio', () => {
  it('is read by number and day, to settle doubts', async () => {
    const message = {
      sid: SID,
      from: '+4930123',
      messaging_service_sid: null,
      body: 'Hi',
      status: 'sent',
      date_created: 'Sun, 22 Nov 2026 11:59:58 +0000',
    };
    twilio.answers(answer(200, { messages: [message], page_size: 100 }));
    expect(await open().list(SMS.to, NOW, never())).toEqual([
      { sid: SID, from: '+4930123', messagingService: null, body: 'Hi', status: 'sent', createdAt: NOW - 2_000 },
    ]);
    const asked = new URL(twilio.received[0]?.path ?? '', twilio.url).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({ To: SMS.to, 'DateSent>': '2026-11-22T12:00:00Z' });
  });

  it('is unknown if Twilio fails', async () => {
    twilio.answers(answer(500, {}));
    expect(await open().list(SMS.to, NOW, never())).toBeNull();
  });
});

describe('a check of the account', () => {
  it('reads the account, and sends nothing', async () => {
    twilio.answers(answer(200, { sid: ACCOUNT, status: 'active' }));
    expect(await open().check(never())).toEqual({ ok: true, detail: 'the account is active' });
    expect(twilio.received.map(({ method }) => method)).toEqual(['GET']);
  });

  it('returns Twilio’s message, or why Twilio could not be asked', async () => {
    twilio.answers(answer(401, { code: 20003, message: 'Authenticate' }));
    expect(await open().check(never())).toEqual({ ok: false, detail: 'Authenticate' });
    twilio.answers(answer(200, { sid: ACCOUNT, status: 'suspended' }));
    expect(await open().check(never())).toEqual({ ok: false, detail: 'the account is suspended' });
    await twilio.stop();
    expect(await open().check(never())).toMatchObject({ ok: false });
  });
});
