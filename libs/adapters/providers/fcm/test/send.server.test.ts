import type { ServerHttp2Stream } from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFcmApi, type FcmApi, type FcmApiOptions, type PushContent } from '../src/index.ts';
import { err, ok } from '@carillon/kernel';
import type { AddressGuard } from '@carillon/ports';
import { createLoopbackGuard } from '@carillon/testing';
import { answerFcm as answer, fcmError as error, startScriptedFcm } from '@carillon/testing/providers';
import { ANSWERS, bodyOf } from './answers.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const content: PushContent = {
  title: 'Paid',
  body: 'Order A-1',
  image: null,
  link: null,
  data: {},
  priority: null,
  collapse: null,
  androidChannel: null,
  apnsSound: null,
};
let fcm: Awaited<ReturnType<typeof startScriptedFcm>>;
const apis: FcmApi[] = [];
beforeEach(async () => {
  fcm = await startScriptedFcm();
});
afterEach(async () => {
  await Promise.all(apis.splice(0).map((api) => api.close()));
  await fcm.stop();
});

const optionsOf = (): FcmApiOptions => {
  const { url, trusted } = fcm;
  return { url, trusted, guard: null, now: () => NOW, tokenGuard: createLoopbackGuard() };
};
function open(options: Partial<FcmApiOptions> = {}): FcmApi {
  const api = createFcmApi(fcm.account, { ...optionsOf(), ...options });
  apis.push(api);
  return api;
}
const never = (): AbortSignal => new AbortController().signal;
const send = (api = open(), more: Partial<PushContent> = {}, signal = never()) =>
  api.send({ token: 'abc:def', content: { ...content, ...more }, timeToLive: 60_000, now: NOW }, signal);

describe('a push notification', () => {
  it('is one POST with an access token of the account', async () => {
    expect(await send()).toMatchObject({ verdict: 'accepted', providerId: 'projects/demo-app/messages/1' });
    expect(fcm.received).toHaveLength(1);
    expect(fcm.received[0]).toMatchObject({
      path: '/v1/projects/demo-app/messages:send',
      authorization: 'Bearer token-1',
    });
    expect(JSON.parse(fcm.received[0]?.body ?? '')).toMatchObject({ message: { token: 'abc:def' } });
  });

  it('shares connection and token with other messages', async () => {
    const api = open();
    const results = await Promise.all(Array.from({ length: 20 }, () => send(api)));
    expect(results.every(({ verdict }) => verdict === 'accepted')).toBe(true);
    expect([fcm.sessions(), fcm.tokens.asked()]).toEqual([1, 1]);
  });

  it('to a dead token suppresses the token', async () => {
    fcm.answers(error(404, 'UNREGISTERED'));
    expect(await send()).toMatchObject({
      verdict: 'refused_recipient',
      suppress: 'dead_token',
      code: 'UNREGISTERED',
      detail: 'said FCM',
    });
  });

  it.each(['stopped', 'X'.repeat(65), 'line\nbreak', ''])(
    'that gets the unknown code %j keeps the HTTP status as its code',
    async (code) => {
      fcm.answers(answer(429, { error: { status: code, message: 'said somebody' } }));
      expect(await send()).toMatchObject({ verdict: 'throttled', code: '429' });
      fcm.answers(error(429, code));
      expect(await send()).toMatchObject({ verdict: 'throttled', code: 'X' });
    },
  );

  it.each(ANSWERS)('that gets %s %s %j is %s over HTTP/2, suppressed: %s, and is sent once', async (...row) => {
    const [status, word, details, verdict, suppress] = row;
    fcm.answers(answer(status, bodyOf(status, word, details)));
    expect(await send()).toMatchObject({ verdict, suppress });
    expect(fcm.received).toHaveLength(1);
  });

  it.each([502, 504])('that gets HTML with %s is in doubt, and is sent once', async (status) => {
    fcm.answers(answer(status, '<html>Bad gateway</html>'));
    expect(await send()).toMatchObject({ verdict: 'ambiguous', code: String(status) });
    expect(fcm.received).toHaveLength(1);
  });

  it('with the wrong project suppresses no address', async () => {
    fcm.answers(answer(404, { error: { code: 404, status: 'NOT_FOUND', message: 'Requested entity was not found.' } }));
    expect(await send()).toMatchObject({ verdict: 'refused_account', suppress: null, alert: true });
  });

  it('with the code SENDER_ID_MISMATCH counts against its device, until most messages get it', async () => {
    const api = open();
    fcm.answers(error(403, 'SENDER_ID_MISMATCH'));
    const verdicts: string[] = [];
    for (let each = 0; each < 11; each += 1) verdicts.push((await send(api)).verdict);
    expect(verdicts.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 'refused_recipient'));
    expect(verdicts.at(-1)).toBe('refused_account');
  });

  it('that is throttled waits as long as FCM says, or a minute', async () => {
    fcm.answers(error(429, 'QUOTA_EXCEEDED', { 'retry-after': '7' }));
    expect(await send()).toMatchObject({ verdict: 'throttled', retryAt: NOW + 7_000 });
    fcm.answers(error(429, 'QUOTA_EXCEEDED'));
    expect(await send()).toMatchObject({ verdict: 'throttled', retryAt: NOW + 60_000 });
  });

  it.each(['UNAVAILABLE', 'INTERNAL'])('that gets %s is in doubt, and is not sent again', async (code) => {
    fcm.answers(error(code === 'INTERNAL' ? 500 : 503, code));
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
    expect(fcm.received).toHaveLength(1);
  });

  it('whose token FCM rejects is refused, and the next message requests another token', async () => {
    const api = open();
    fcm.answers(answer(401, { error: { status: 'UNAUTHENTICATED' } }));
    expect(await send(api)).toMatchObject({ verdict: 'refused_account' });
    fcm.answers(answer(200, { name: 'projects/demo-app/messages/2' }));
    expect(await send(api)).toMatchObject({ verdict: 'accepted' });
    expect(fcm.received.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('that is larger than the FCM limit is not sent', async () => {
    expect(await send(open(), { body: 'ü'.repeat(2_048) })).toMatchObject({ verdict: 'refused_content' });
    expect(fcm.received).toHaveLength(0);
  });

  it.each([
    ['refuses the account', 400, 'refused_account'],
    ['has trouble of its own', 400 + 100, 'transient'],
  ])('is definitely not sent if Google %s', async (_, status, verdict) => {
    fcm.tokens.answers(status);
    expect(await send()).toMatchObject({ verdict });
    expect(fcm.received).toHaveLength(0);
  });

  it.each<[string, AddressGuard]>([
    ['nowhere', { resolve: async () => err({ reason: 'refused_address', detail: 'not there' }) }],
    ['the clear', { resolve: async () => ok([{ address: '127.0.0.1', family: 4, listed: false, isPublic: true }]) }],
  ])(
    'sends no token request if the guard sees its key file lead to %s, whoever owns the account',
    async (_, tokenGuard) => {
      expect(await send(open({ tokenGuard }))).toMatchObject({ verdict: 'transient' });
      expect([fcm.received.length, fcm.tokens.asked()]).toEqual([0, 0]);
    },
  );

  it('is definitely not sent if Google is unreachable', async () => {
    await fcm.tokens.stop();
    expect(await send()).toMatchObject({ verdict: 'transient' });
  });

  it('with an unreadable key parks the account', async () => {
    const broken = { ...fcm.account, private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n' };
    const api = createFcmApi(broken, optionsOf());
    apis.push(api);
    expect(await send(api)).toMatchObject({ verdict: 'refused_account', alert: true });
  });

  it('that was stopped before it began is not sent', async () => {
    expect(await send(open(), {}, AbortSignal.abort())).toMatchObject({ verdict: 'transient', code: 'stopped' });
    expect(fcm.received).toHaveLength(0);
  });
});

describe('a connection to FCM', () => {
  const resetWith = (code: number) => (stream: ServerHttp2Stream) => stream.close(code);
  const REFUSED_STREAM = 7;
  const INTERNAL_ERROR = 2;

  it('that nothing listens to, or that is not HTTP/2, makes no attempt', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await new Promise((done) => closed.close(done));
    expect(await send(open({ url: `https://localhost:${port}` }))).toMatchObject({ verdict: 'transient' });
    expect(await send(open({ trusted: [] }))).toMatchObject({ verdict: 'transient', alert: true });
  });

  it('that refuses the stream makes no attempt', async () => {
    fcm.answers(resetWith(REFUSED_STREAM));
    expect(await send()).toMatchObject({ verdict: 'transient' });
  });

  it('that resets the stream otherwise leaves a doubt', async () => {
    fcm.answers(resetWith(INTERNAL_ERROR));
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
  });

  it('whose socket is destroyed leaves a doubt, even without an error', async () => {
    fcm.answers((stream) => stream.session?.socket.destroy());
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
  });

  it('that ends in the middle of a response leaves a doubt', async () => {
    fcm.answers((stream) => {
      stream.respond({ ':status': 200 });
      stream.write('{"name":', () => stream.session?.socket.destroy());
    });
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
  });

  it('that sends GOAWAY makes no attempt if our stream is above its last stream, and else leaves a doubt', async () => {
    const api = open();
    // Node's server has no way to name stream 0, so the stream below ours is one that was answered.
    expect(await send(api)).toMatchObject({ verdict: 'accepted' });
    fcm.answers((stream) => {
      stream.session?.goaway(0, stream.id === undefined ? 0 : stream.id - 2);
      stream.session?.destroy();
    });
    expect(await send(api)).toMatchObject({ verdict: 'transient' });
    fcm.answers((stream) => {
      stream.session?.goaway(0, stream.id);
      stream.session?.destroy();
    });
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
  });

  it('that returns 200 without a message name leaves a doubt', async () => {
    fcm.answers(answer(200, '<html>Welcome to the network</html>'));
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
  });

  it('that responds too late or with too much leaves a doubt', async () => {
    fcm.answers(() => undefined);
    expect(await send(open({ timeouts: { answer: 50 } as never }))).toMatchObject({ verdict: 'ambiguous' });
    fcm.answers(answer(200, 'x'.repeat(300_000)));
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
  });

  it('is opened again for the next message after it has ended', async () => {
    const api = open();
    expect(await send(api)).toMatchObject({ verdict: 'accepted' });
    fcm.answers((stream) => stream.session?.socket.destroy());
    expect(await send(api)).toMatchObject({ verdict: 'ambiguous' });
    fcm.answers(answer(200, { name: 'projects/demo-app/messages/2' }));
    expect(await send(api)).toMatchObject({ verdict: 'accepted' });
    expect(fcm.sessions()).toBe(2);
  });

  it('for an account of a workspace is checked by the guard', async () => {
    const refused = { reason: 'refused_address' as const, detail: '' };
    const guard = { resolve: () => Promise.resolve({ ok: false as const, error: refused }) };
    expect(await send(open({ guard }))).toMatchObject({ verdict: 'transient', alert: true });
    expect(fcm.sessions()).toBe(0);
  });
});

describe('a check of the account', () => {
  const badToken = answer(400, {
    error: {
      status: 'INVALID_ARGUMENT',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'message.token' }] },
        { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'INVALID_ARGUMENT' },
      ],
    },
  });

  it('sends to nobody', async () => {
    fcm.answers(badToken);
    expect(await open().check(never())).toEqual({ ok: true, detail: 'FCM takes messages of project demo-app' });
    expect(JSON.parse(fcm.received[0]?.body ?? '')).toMatchObject({ validateOnly: true });
  });

  it('says why it fails', async () => {
    fcm.answers(answer(403, { error: { status: 'PERMISSION_DENIED', message: 'Permission denied on project' } }));
    expect(await open().check(never())).toEqual({ ok: false, detail: 'Permission denied on project' });
    fcm.tokens.answers(400);
    expect(await open().check(never())).toEqual({ ok: false, detail: 'Google refuses the service account (400).' });
  });
});
