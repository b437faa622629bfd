import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { createFcmApi, messageBody, readServiceAccount, type PushRequest } from '@carillon/adapter-providers/fcm';
import { createLoopbackGuard } from '@carillon/testing';
import type { BenchCase, Side } from '../harness/bench.ts';
import type { SlowProviderPlace, SlowProviderReport } from '../peers/slow-provider.ts';
import { clientSide, type ProviderClient } from './client-side.ts';

const RESPONSE_DELAY_MS = 5;
const CONCURRENCY = 16;

const request = (n: number): PushRequest => ({
  token: `device-${n}:APA91b${'x'.repeat(120)}`,
  content: {
    title: `Order ${n}`,
    body: 'Your order is on its way. '.repeat(8),
    image: null,
    link: 'https://shop.example.com/orders',
    data: { order: String(n) },
    priority: 'high',
    collapse: null,
    androidChannel: null,
    apnsSound: null,
  },
  timeToLive: 3_600_000,
  now: Date.now(),
});

const pushSide = (name: string, connectTo: (place: SlowProviderPlace) => Promise<ProviderClient>): Side =>
  clientSide<SlowProviderPlace, SlowProviderReport>({
    name,
    program: 'slow-provider.ts',
    delayMs: RESPONSE_DELAY_MS,
    concurrency: CONCURRENCY,
    connect: connectTo,
    arrived: ({ push }) => push,
  });

const carillon = pushSide('FCM adapter', async ({ fcm, certificate, keyFile }) => {
  const account = readServiceAccount(keyFile);
  if (!account.ok) throw new Error(account.error);
  const api = createFcmApi(account.value, {
    url: fcm,
    trusted: [certificate],
    guard: null,
    tokenGuard: createLoopbackGuard(),
    now: () => Date.now(),
  });
  const { signal } = new AbortController();
  return {
    async send(n) {
      const { verdict, detail } = await api.send(request(n), signal);
      if (verdict !== 'accepted') throw new Error(`message ${n}: ${verdict} ${detail}`);
    },
    close: () => api.close(),
  };
});

/** Writes the same bodies over one connection and waits for the end of each response. */
const raw = pushSide('node:http2', async ({ fcm, certificate }) => {
  const session = connectHttp2(fcm, { ca: certificate });
  await once(session, 'connect');
  return {
    send: async (n) => {
      const body = JSON.stringify(messageBody(request(n)));
      const stream = session.request({
        ':method': 'POST',
        ':path': '/v1/projects/demo-app/messages:send',
        authorization: 'Bearer token',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      stream.end(body);
      stream.resume();
      await once(stream, 'close');
    },
    close: async () => session.destroy(),
  };
});

export const pushCase: BenchCase = {
  title: 'push',
  counted: 'messages',
  delays: 'from handing over a message to its acceptance',
  sides: [carillon, raw],
  comparisons: [{ side: 'FCM adapter', to: 'node:http2', measure: 'rate', wanted: 'at least', floor: 0.9, goal: 0.97 }],
};

export const PUSH_TEXT = `Push: a scripted FCM (HTTP/2 over TLS) waits ${RESPONSE_DELAY_MS} ms before each response. The FCM adapter keeps ${CONCURRENCY} requests open over one
connection; \`node:http2\` alone writes the same bodies and reads no response.`;
