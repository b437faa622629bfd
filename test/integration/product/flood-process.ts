/** A program of its own that posts events to a gateway: what it needs of the processor is not the test's. See `flood.ts`. */
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { FloodOrders, FloodReport } from './flood.ts';

const TICK = 20;

const { url, key, name, event, pace, connections } = JSON.parse(process.argv[2] ?? '{}') as FloodOrders;
const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections });
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const answers: Record<string, number> = {};
const accepted: string[] = [];
const open = new Set<Promise<void>>();
let [sent, unsent, unexplained, stopped] = [0, 0, 0, false];

/** Opens all connections, before there is a queue of those who want one. */
const connect = (): Promise<unknown> =>
  Promise.all(
    Array.from({ length: connections }, async () => {
      const get = new Promise<IncomingMessage>((resolve, reject) => {
        request(new URL('/livez', url), { agent }, resolve).on('error', reject).end();
      });
      await text(await get);
    }),
  );

const answerTo = (body: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const length = { 'content-length': Buffer.byteLength(body) };
    request(url, { method: 'POST', agent, headers: { ...headers, ...length } }, resolve)
      .on('error', reject)
      .end(body);
  });

async function send(): Promise<void> {
  sent += 1;
  let came: string;
  try {
    const answer = await answerTo(JSON.stringify({ ...event, order_id: `${name}-${sent}` }));
    const body = await text(answer);
    came = String(answer.statusCode);
    if (answer.statusCode === 202) accepted.push((JSON.parse(body) as { id: string }).id);
    else if (!/^\d+$/.test(answer.headers['retry-after'] ?? '')) unexplained += 1;
  } catch (error) {
    came = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
  answers[came] = (answers[came] ?? 0) + 1;
}

function begin(): void {
  if (open.size >= connections) {
    unsent += 1;
    return;
  }
  const sending = send();
  open.add(sending);
  void sending.finally(() => open.delete(sending));
}

/** Each sends one after the other. */
async function client(): Promise<void> {
  while (!stopped) await send();
}

/** Sends at its rate, whatever comes back. What a busy machine kept from being sent is made up for within a second. */
async function pour(perSecond: number): Promise<void> {
  let owed = 0;
  for (let before = performance.now(); !stopped; await pause(TICK)) {
    const now = performance.now();
    owed = Math.min(owed + ((now - before) / 1_000) * perSecond, perSecond);
    before = now;
    for (; owed >= 1; owed -= 1) begin();
  }
}

process.once('message', () => (stopped = true));
// Whoever started it is gone.
process.once('disconnect', () => process.exit(1));

await connect();
process.send?.('connected');
const since = performance.now();
await (pace === 'closed' ? Promise.all(Array.from({ length: connections }, client)) : pour(pace.perSecond));
const seconds = (performance.now() - since) / 1_000;
await Promise.all(open);
const report: FloodReport = { answers, accepted, unexplained, sent, unsent, seconds };
process.send?.(report, () => process.exit(0));
