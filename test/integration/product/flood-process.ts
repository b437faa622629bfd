/** A program of its own that posts events to a gateway: what it needs of the processor is not the test's. See `flood.ts`. */
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { createFloodConnection, type FloodConnection } from './flood-connection.ts';
import type { FloodOrders, FloodReport } from './flood.ts';

const TICK = 20;

const { url, key, name, event, pace, connections, pipelined = 1 } = JSON.parse(process.argv[2] ?? '{}') as FloodOrders;
const place = new URL(url);
const answers: Record<string, number> = {};
const accepted: string[] = [];
const all = Array.from({ length: connections }, () => createFloodConnection(place, pipelined));
/** Those that take a request now; whoever sent longest ago sends next. */
const free = new Set(all);
let [sent, answered, unsent, unexplained, stopped] = [0, 0, 0, 0, false];
const drained = Promise.withResolvers<void>();

/** Numbers of one length, so that a request is made of two texts that are made once. */
const NUMBER_LENGTH = 9;
const numbered = (number: number): string => String(number).padStart(NUMBER_LENGTH, '0');
const PLACE_OF_NUMBER = 'n'.repeat(NUMBER_LENGTH);
const body = JSON.stringify({ ...event, order_id: `${name}-${PLACE_OF_NUMBER}` });
const [beforeNumber = '', afterNumber = ''] = [
  `POST ${place.pathname} HTTP/1.1`,
  `host: ${place.host}`,
  `authorization: Bearer ${key}`,
  'content-type: application/json',
  `content-length: ${body.length}`,
  '',
  body,
]
  .join('\r\n')
  .split(PLACE_OF_NUMBER);

/** Opens all connections, before there is a queue of those who want one. */
const connect = (): Promise<unknown> =>
  Promise.all(all.map((connection) => connection.ask(`GET /livez HTTP/1.1\r\nhost: ${place.host}\r\n\r\n`)));

async function send(connection: FloodConnection): Promise<void> {
  sent += 1;
  let came: string;
  try {
    const answer = await connection.ask(beforeNumber + numbered(sent) + afterNumber);
    came = String(answer.status);
    if (answer.status === 202) accepted.push((JSON.parse(answer.body) as { id: string }).id);
    else if (!/^\d+$/.test(answer.retryAfter ?? '')) unexplained += 1;
  } catch (error) {
    came = error instanceof Error ? error.message : String(error);
  }
  answers[came] = (answers[came] ?? 0) + 1;
}

function begin(): void {
  const [connection] = free;
  if (!connection) {
    unsent += 1;
    return;
  }
  free.delete(connection);
  const sending = send(connection);
  if (connection.hasRoom()) free.add(connection);
  void sending.finally(() => {
    answered += 1;
    if (connection.hasRoom()) free.add(connection);
    if (stopped && answered === sent) drained.resolve();
  });
}

/** Each sends one after the other. */
async function client(connection: FloodConnection): Promise<void> {
  while (!stopped) await send(connection);
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
const idleBefore = performance.eventLoopUtilization();
await (pace === 'closed' ? Promise.all(all.map(client)) : pour(pace.perSecond));
const seconds = (performance.now() - since) / 1_000;
const busy = performance.eventLoopUtilization(idleBefore).utilization;
if (pace !== 'closed' && answered < sent) await drained.promise;
const report: FloodReport = { answers, accepted, unexplained, sent, unsent, seconds, busy };
process.send?.(report, () => process.exit(0));
