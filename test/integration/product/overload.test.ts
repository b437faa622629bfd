import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import type { DeliveryBody } from '@carillon/contracts';
import type { EventLog } from '@carillon/ports';
import { startLedgerSmtp, untilFound } from '@carillon/testing';
import { settingsFor, startClusterServices } from '@carillon/testing/cluster';
import { afterEach, expect, it } from 'vitest';
import { openClusterStores } from '../../chaos/cluster/stores.ts';
import { startPosting } from '../cluster/posting.ts';
import { startFlood, type FloodReport } from './flood.ts';
import { openShop, order, request, scratch, shopFiles, smtpDeployment, type Files, type Shop } from './shop.ts';

/*
 * One machine under more than it can take, and one workspace beside another that sends fifty times as much.
 * OVERLOAD_SECONDS=60 keeps both up for a minute; OVERLOAD_BACKEND=cluster has the first on Kafka and FerretDB.
 */

const SECONDS = Number(process.env['OVERLOAD_SECONDS'] ?? 10);
const ON_CLUSTER = process.env['OVERLOAD_BACKEND'] === 'cluster';
const MEBIBYTE = 1024 * 1024;
/** What the process may hold, all of Node and our code included. */
const MOST_MEMORY = 700 * MEBIBYTE;
const TIMEOUT = 300_000 + SECONDS * 24_000;

let shop: Shop & { close(): Promise<void> };
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await shop.close();
  for (const end of ends.splice(0)) await end();
});

const memoryOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

/** The product, and how its log is opened when it has stopped. */
async function openBackend(): Promise<() => Promise<{ readonly log: EventLog; close(): Promise<void> }>> {
  if (!ON_CLUSTER) {
    shop = await openShop();
    return () => openEmbedded({ dataDir: shop.dataDir, clock: systemClock, holder: 'overload test' });
  }
  const services = await startClusterServices();
  ends.push(() => services.stop());
  shop = await openShop({ env: settingsFor(services) });
  return () => openClusterStores(services, 'carillon');
}

/** How often each event stands on the log. */
async function countEvents(log: EventLog): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let partition = 0; partition < log.partitions('carillon.events'); partition += 1) {
    for (let from = 0; ;) {
      const page = await log.read('carillon.events', partition, from, 1_000);
      const last = page.at(-1);
      if (!last) break;
      for (const { headers } of page) {
        const id = headers['event_id'] ?? '';
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      from = last.offset + 1;
    }
  }
  return counts;
}

/** So many clients that wait for each answer find out what it takes, of the very events that it is flooded with. */
const MEASURING = 64;
const TIMES_CAPACITY = 3;
/**
 * Of a flood; the next one has more and sends twice as much, until something is refused: the machine may have had other
 * things to do when it was measured. Fewer than the product takes (4,096).
 */
const FLOOD_CONNECTIONS = [1_000, 2_000, 4_000];
const FLOOD = { status: 'open', total: 1, note: 'x'.repeat(1_000) };

type Flooded = FloodReport & { readonly connections: number; readonly memory: number };

/** Sends for a while, whatever comes back, and looks at the memory meanwhile. */
async function floodOver(connections: number, perSecond: number, url: string): Promise<Flooded> {
  const name = `flood-${connections}`;
  const flood = startFlood({ url, key: shop.key, name, event: FLOOD, connections, pace: { perSecond } });
  await flood.begun;
  let memory = 0;
  for (const until = Date.now() + SECONDS * 1_000; Date.now() < until; await pause(100)) {
    memory = Math.max(memory, memoryOf(shop.product.pid));
  }
  return { ...(await flood.finish()), connections, memory };
}

const refused = ({ answers }: FloodReport): number => (answers['429'] ?? 0) + (answers['503'] ?? 0);

it(
  'Three times what it can take is answered with 202, 429 and 503 with Retry-After; memory is bounded, nothing taken is lost',
  async () => {
    const openLog = await openBackend();
    const { product, key } = shop;
    const url = `${product.gatewayUrl}/events/shop/orders`;
    const closed = startFlood({ url, key, name: 'closed', event: FLOOD, connections: MEASURING, pace: 'closed' });
    await closed.begun;
    await pause(3_000);
    const measured = await closed.finish();
    const capacity = measured.accepted.length / measured.seconds;

    const urgent = startPosting({ gatewayUrl: product.gatewayUrl, key }, { name: 'urgent', clients: 2, every: 200 });
    const floods: Flooded[] = [];
    for (const [number, connections] of FLOOD_CONNECTIONS.entries()) {
      floods.push(await floodOver(connections, capacity * TIMES_CAPACITY * 2 ** number, url));
      if (floods.some((one) => refused(one) > 0)) break;
    }
    await urgent.finish();
    const told = floods.map((one) => ({ ...one, accepted: undefined, memory: Math.round(one.memory / MEBIBYTE) }));
    console.log('overload:', JSON.stringify({ capacity: Math.round(capacity), floods: told }));
    for (const { answers, unexplained } of [measured, ...floods]) {
      expect(new Set(Object.keys(answers)).difference(new Set(['202', '429', '503']))).toEqual(new Set());
      expect(unexplained, 'refusals without Retry-After').toBe(0);
    }
    for (const { accepted, memory } of floods) {
      expect(accepted.length).toBeGreaterThan(100);
      expect(memory).toBeLessThan(MOST_MEMORY);
    }
    // Without a refusal nothing was shown.
    expect(floods.reduce((sum, one) => sum + refused(one), 0)).toBeGreaterThan(0);
    for (const { status, retryAfter } of urgent.answers) {
      expect([202, 429, 503]).toContain(status);
      if (status !== 202) expect(retryAfter).toMatch(/^\d+$/);
    }

    // What was taken meanwhile and fires is told, by the same process.
    for (const id of urgent.accepted) {
      const deadline = 120_000 + SECONDS * 5_000;
      await untilFound(`a mail of ${id}`, async () => (await shop.deliveries(`&event=${id}&state=SENT`))[0], deadline);
    }
    expect(await product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const stores = await openLog();
    try {
      const events = await countEvents(stores.log);
      const floodTook = [measured, ...floods].flatMap(({ accepted }) => accepted);
      expect(floodTook.filter((id) => events.get(id) !== 1)).toEqual([]);
      // Whoever repeats may stand there twice: it is one event by its id.
      expect([...urgent.accepted].filter((id) => !events.has(id))).toEqual([]);
    } finally {
      await stores.close();
    }
  },
  TIMEOUT,
);

/** Events of the quiet workspace in a second; the other sends fifty times as many. */
const QUIET = 2;
const TIMES = 50;
/** Milliseconds that the mail server takes for each: it is what both wait for, and takes a quarter of what comes. */
const LATENCY = 200;
const CONNECTIONS = 5;
const TRIES = 6;

/** The same shop in two workspaces, which send through one account. */
const twoShops = (smtpPort: number): Files => {
  const own = shopFiles({ deployment: smtpDeployment(smtpPort, `, connections: ${CONNECTIONS}`) });
  const other = Object.entries(own).flatMap(([path, text]) =>
    path.startsWith('workspaces/shop/') ? [[path.replace('/shop/', '/club/'), text] as const] : [],
  );
  return { ...own, ...Object.fromEntries(other) };
};

const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;

/** Milliseconds from sending to the mail's acceptance, of events that are sent over a time, a few in a second. */
async function waits(key: string, name: string, span: number): Promise<readonly number[]> {
  const begun = new Map<string, number>();
  for (const until = Date.now() + span; Date.now() < until; await pause(1_000 / QUIET)) {
    const at = Date.now();
    const { status, body } = await request<{ id: string }>(`${shop.product.gatewayUrl}/events/club/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(order(`${name}-${begun.size}`)),
    });
    expect(status).toBe(202);
    begun.set(body.id, at);
  }
  const took: number[] = [];
  for (const [id, at] of begun) {
    const told = await untilFound(
      `a mail of ${id}`,
      async () => {
        const path = `/v1/workspaces/club/deliveries?event=${id}&state=SENT`;
        return (await shop.api<{ items: DeliveryBody[] }>('GET', path)).body.items[0];
      },
      60_000,
    );
    took.push(Date.parse(told.history.find(({ state }) => state === 'SENT')?.at ?? '') - at);
  }
  return took;
}

/** How much longer the quiet workspace waits beside the busy one than alone. */
async function slowdown(smtpPort: number): Promise<number> {
  shop = await openShop({ files: twoShops(smtpPort) });
  const club = await shop.api<{ key: string }>('POST', '/v1/workspaces/club/api-keys', { name: 'backend' });
  const alone = p95(await waits(club.body.key, 'alone', SECONDS * 750));
  const flood = startFlood({
    url: `${shop.product.gatewayUrl}/events/shop/orders`,
    key: shop.key,
    name: 'busy',
    event: order(''),
    connections: QUIET * TIMES,
    pace: { perSecond: QUIET * TIMES },
  });
  const beside = p95(await waits(club.body.key, 'beside', SECONDS * 750));
  const { answers } = await flood.finish();
  const { body } = await shop.api<{ deliveries: Record<string, number> }>('GET', '/v1/status');
  console.log('fairness:', { alone, beside, busy: answers, ...body.deliveries });
  // Without a queue of the busy one there was nothing to be fair about.
  return (body.deliveries['WAITING'] ?? 0) > QUIET * TIMES ? beside / alone : Number.POSITIVE_INFINITY;
}

it(
  'A workspace that sends fifty times as much as another does not make it wait more than twice as long',
  async () => {
    const { folder, remove } = await scratch();
    const behaviour = { latency: LATENCY, tempfail: 0, drop: 0 };
    const smtp = await startLedgerSmtp({ file: join(folder, 'mail.jsonl'), seed: '1', ...behaviour });
    try {
      const slowdowns: number[] = [];
      // The machine may have been at something else in one of the two stretches: then both are measured anew.
      for (let time = 1; time <= TRIES && !slowdowns.some((one) => one <= 2); time += 1) {
        if (time > 1) await shop.close();
        slowdowns.push(await slowdown(smtp.port));
      }
      expect(Math.min(...slowdowns)).toBeLessThanOrEqual(2);
    } finally {
      await smtp.stop();
      await remove();
    }
  },
  TIMEOUT,
);
