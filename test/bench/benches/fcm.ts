import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { fileURLToPath } from 'node:url';
import { createFcmApi, messageBody, readServiceAccount, type PushRequest } from '@carillon/adapter-fcm';
import { createLoopbackGuard } from '@carillon/testing';
import type { Bench, OpenSide, Side } from '../harness/bench.ts';
import { closedLoop } from '../harness/load.ts';
import type { SlowProviderPlace, SlowProviderReport } from '../peers/slow-provider.ts';
import { secondsOf } from '../warm-up.ts';

const THINK = 5;
const OPEN = 16;

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

function sending(
  name: string,
  connectTo: (place: SlowProviderPlace) => Promise<{ send(n: number): Promise<void>; close(): Promise<void> }>,
): Side {
  return {
    name,
    syncs: 'nothing',
    async open(): Promise<OpenSide> {
      const peer = fileURLToPath(new URL('../peers/slow-provider.ts', import.meta.url));
      const server: ChildProcess = fork(peer, [String(THINK)]);
      const [place] = (await once(server, 'message')) as [SlowProviderPlace];
      const client = await connectTo(place);
      let sent = 0;
      return {
        processes: { bench: process.pid, server: server.pid ?? 0 },
        round: (round) =>
          closedLoop({ open: OPEN, seconds: secondsOf(round) }, () => {
            sent += 1;
            return client.send(sent);
          }),
        async verify() {
          server.send('how many');
          const [{ push }] = (await once(server, 'message')) as [SlowProviderReport];
          return push === sent ? [] : [`${sent} messages were sent, ${push} arrived`];
        },
        async close() {
          await client.close();
          const gone = once(server, 'exit');
          server.disconnect();
          await gone;
        },
      };
    },
  };
}

const carillon = sending('carillon', async ({ fcm, certificate, keyFile }) => {
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

/** One connection and the same bodies, and nothing done but to write them and to wait for the end of the answer. */
const raw = sending('node:http2', async ({ fcm, certificate }) => {
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

export const fcm: Bench = {
  name: 'fcm',
  title: 'Sending push messages',
  what: `A stand-in of FCM (HTTP/2 over TLS) in a process of its own thinks ${THINK} ms before each answer. The product's FCM adapter keeps ${OPEN} requests open
over its one connection; node:http2 by itself writes the same bodies over one connection, and reads no answer. Every message arrives once.`,
  cases: [
    {
      title: `${THINK} ms an answer, ${OPEN} open`,
      counted: 'messages',
      delays: 'from handing over a message to its acceptance',
      sides: [carillon, raw],
      comparisons: [
        { side: 'carillon', to: 'node:http2', measure: 'rate', wanted: 'at least', floor: 0.9, goal: 0.97 },
      ],
    },
  ],
};
