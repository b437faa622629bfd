/** The process that posts events; see `load.ts`. */
import { createHmac } from 'node:crypto';
import { Client } from 'undici';
import { createCorpus } from '../corpus.ts';
import { closedLoop, openLoop } from '../harness/load.ts';
import type { LoadPlan, LoadResult } from './load.ts';
import type { TwilioCallbacks } from './target.ts';

/** Made beforehand and posted again and again, each time under a new Idempotency-Key: what is measured is not their making. */
const BODIES = 4000;

type Answer = { readonly status: number; readonly text: string };

const post = (client: Client, path: string, headers: Record<string, string>, body: Buffer): Promise<Answer> =>
  new Promise((settle, fail) => {
    let status = 0;
    let text = '';
    client.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, code) => void (status = code),
        onResponseData: (_controller, chunk) => void (text += chunk.toString()),
        onResponseEnd: () => settle({ status, text }),
        onResponseError: (_controller, error) => fail(error),
      },
    );
  });

const corpora = new Map<number, readonly Buffer[]>();
function bodiesOf(bytes: number): readonly Buffer[] {
  const corpus = createCorpus(bytes);
  const bodies = corpora.get(bytes) ?? Array.from({ length: BODIES }, () => corpus.nextBytes());
  corpora.set(bytes, bodies);
  return bodies;
}

/** A status as Twilio posts it: https://www.twilio.com/docs/usage/security#validating-requests. */
function statusOf(sid: string, path: string, { publicUrl, authToken }: TwilioCallbacks) {
  const form = {
    AccountSid: 'AC0123456789abcdef0123456789abcdef',
    ApiVersion: '2010-04-01',
    From: '+4930123456',
    MessageSid: sid,
    MessageStatus: 'delivered',
    SmsSid: sid,
    SmsStatus: 'delivered',
    To: '+4915112345678',
  };
  const signed = publicUrl + path + Object.entries(form).flat().join('');
  const signature = createHmac('sha1', authToken).update(signed).digest('base64');
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
  return { headers, body: Buffer.from(new URLSearchParams(form).toString()) };
}

let runs = 0;

async function run({ url, headers, bytes, load, twilio }: LoadPlan): Promise<LoadResult> {
  const { origin, pathname } = new URL(url);
  const bodies = bodiesOf(bytes);
  const number = (runs += 1);
  const all: Client[] = [];
  const idle: Client[] = [];
  const connect = (): Client => {
    const client = new Client(origin, { pipelining: 1 });
    all.push(client);
    return client;
  };
  const acknowledged: string[] = [];
  const refusals: Record<string, number> = {};
  const delays: number[] = [];
  const answeredAt: number[] = [];
  const begun = performance.now();
  const cpu = process.threadCpuUsage();

  const one = async (n: number): Promise<void> => {
    const from = 'rate' in load ? begun + (n / load.rate) * 1000 : performance.now();
    const client = idle.pop() ?? connect();
    const key = `${process.pid}-${number}-${n}`;
    const made = twilio ? statusOf(`SM${key}`, pathname, twilio) : null;
    const body = made?.body ?? bodies[n % BODIES] ?? Buffer.alloc(0);
    const sent = made?.headers ?? { ...headers, 'content-type': 'application/json', 'idempotency-key': key };
    const came = await post(client, pathname, sent, body).catch((error: unknown) => String(error));
    idle.push(client);
    if (typeof came === 'object' && came.status === (made ? 204 : 202)) {
      acknowledged.push(made ? `SM${key}` : (JSON.parse(came.text) as { id: string }).id);
      const now = performance.now();
      delays.push(now - from);
      answeredAt.push(performance.timeOrigin + now);
      return;
    }
    const what = typeof came === 'object' ? `${came.status} ${came.text.slice(0, 200)}` : came;
    refusals[what] = (refusals[what] ?? 0) + 1;
  };
  const { seconds } = 'rate' in load ? await openLoop(load, one) : await closedLoop(load, one);
  const { user, system } = process.threadCpuUsage(cpu);
  await Promise.all(all.map((client) => client.close()));
  return {
    seconds,
    busy: (user + system) / 1e6 / seconds,
    acknowledged,
    refusals,
    delays: Float64Array.from(delays),
    answeredAt: Float64Array.from(answeredAt),
  };
}

process.on('message', (plan: LoadPlan) => {
  run(plan).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
