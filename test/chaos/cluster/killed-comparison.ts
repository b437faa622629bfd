import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openKafkaLog, type KafkaLog } from '@carillon/adapter-kafka';
import { openMongo } from '@carillon/adapter-mongodb';
import { loadKeys, systemClock } from '@carillon/adapter-system';
import type { RunBody } from '@carillon/contracts';
import { isRunOf } from '@carillon/domain/runs';
import type { RunId } from '@carillon/kernel';
import { COLLECTIONS, createStores, type DocumentStores } from '@carillon/stores';
import { untilFound } from '@carillon/testing';
import { startCluster, startClusterServices, type Cluster, type ClusterServices } from '@carillon/testing/cluster';
import { MongoClient, type Db } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRunChild, type RunChildFacts } from '../../../apps/cli/src/replay/run-child.ts';
import { between, createChance } from '../../harness/chance.ts';
import { caller, order, scratch, shopFiles, type Answered } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { BASKET_EVENTS, basketEvent, BASKETS_AFTER, BASKETS_BEFORE, SILENT_BASKETS } from '../compared-baskets.ts';
import { comparisonChildren, killAll } from '../comparison-children.ts';
import { isEvaluated } from '../evaluate-again.ts';
import { clusterContents, untilAllIsRead } from './contents.ts';

/*
 * Repeats a comparison on a cluster while its child and the control processes are killed at random moments, and with pages of 1 to 500
 * records. Each repetition comes to the same checksum, counts and rows, and writes only its own result. Two files have 25 runs
 * each, CARILLON_COMPARED_RUNS makes them shorter. A seed repeats the same kills.
 */

const RUNS = Number(process.env['CARILLON_COMPARED_RUNS'] ?? 25);
const TIMEOUT_MS = 20 * 60_000;
const EVENTS = 6_000;
const PARTITIONS = 8;
const MAX_KILLS = 3;
/** A run fails if its child ends three times in a row before it comes further. */
const MAX_CHILD_KILLS = 2;
/** Share of kills that hit a control process. Another one continues its run when its lease has ended. */
const CONTROL_SHARE = 0.2;
const LOOK_MS = 100;
const DATABASE = 'carillon';
const PATH = '/v1/workspaces/shop/runs';
const RULES = 'workspaces/shop/notifications/order-paid.yaml';
const filesWith = (condition: string, baskets = BASKETS_BEFORE) => ({
  ...shopFiles({ deployment: 'backend: cluster\n' }),
  ...baskets,
  [RULES]: (shopFiles()[RULES] ?? '').replace('event.total > 100', condition),
});
/** Adds, removes and leaves messages. */
const EDIT = filesWith('event.total > 80 && event.total < 150', BASKETS_AFTER);

function eventOf(index: number) {
  const total = 90 + (index % 4) * 30;
  const event = order(`A-${index % 2_700}`, { email: `person${index % 900}@example.com`, total });
  return {
    topic: 'carillon.events',
    partition: index % PARTITIONS,
    key: `k${index}`,
    value: new TextEncoder().encode(JSON.stringify(event)),
    headers: { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders', event_id: `evt_${index}` },
  } as const;
}

const ends: (() => Promise<unknown> | void)[] = [];
let folder: string;
let services: ClusterServices;
let cluster: Cluster;
let log: KafkaLog;
let stores: DocumentStores;
let db: Db;
/** Starts of killed control processes. */
const starting = new Set<Promise<void>>();

/** Asks one of the control processes that run until it answers. */
function ask<Body>(method: string, path: string, body?: unknown): Promise<Answered<Body>> {
  return untilFound(
    `an answer of ${method} ${path}`,
    async () => {
      const control = cluster.of('control').find(({ running }) => running);
      const api = caller({ controlUrl: control?.address ?? '', token: cluster.token });
      const answer = await api<Body>(method, path, body).catch(() => undefined);
      return answer?.status === 503 ? undefined : answer;
    },
    TIMEOUT_MS,
  );
}
async function apply(condition: string, baskets?: typeof BASKETS_BEFORE): Promise<void> {
  const { status, body } = await ask('POST', '/v1/configuration/apply', {
    files: filesWith(condition, baskets),
    prune: false,
  });
  expect({ status, body }).toMatchObject({ status: 200, body: { faults: [] } });
}
async function start(): Promise<RunBody> {
  const { status, body } = await ask<RunBody>('POST', PATH, { folder: { files: EDIT, prune: false } });
  expect({ status, body }).toMatchObject({ status: 202 });
  return body;
}
const read = async ({ id }: RunBody): Promise<RunBody> => (await ask<RunBody>('GET', `${PATH}/${id}`)).body;
const ended = (run: RunBody): Promise<RunBody> =>
  untilFound(
    `run ${run.id} has ended`,
    async () => {
      const body = await read(run);
      if (body.ended_at !== null) return body;
      await pause(LOOK_MS);
      return undefined;
    },
    TIMEOUT_MS,
  );

/** Slot, difference and slot state of each row. */
async function rowsOf({ id }: RunBody): Promise<readonly string[]> {
  const rows: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: Awaited<ReturnType<DocumentStores['runs']['rows']>> = await stores.runs.rows(
      { run: id as RunId },
      1_000,
      cursor,
    );
    rows.push(...page.items.map((row) => `${row.slot} ${row.difference} ${row.slotState} ${row.eventId}`));
    cursor = page.next;
  }
  return rows.toSorted();
}

/** Kills a control process and starts it again. One that compares is preferred, so that another takes over. */
async function killControl(): Promise<void> {
  const controls = cluster.of('control').filter(({ running }) => running);
  const victim = controls.find(({ pid }) => comparisonChildren(pid).length > 0) ?? controls[0];
  if (!victim) return;
  await victim.kill();
  const restarted = victim.restart().finally(() => starting.delete(restarted));
  starting.add(restarted);
}

/** Kills the child or a control process at random moments of a run that takes about `tookMs`. Returns the numbers of both. */
async function killAtRandom(run: RunBody, tookMs: number, chance: () => number) {
  const killed = { control: 0, child: 0 };
  const kills = Math.floor(between(chance, 1, MAX_KILLS + 1));
  while (killed.control + killed.child < kills) {
    await pause(between(chance, 0, tookMs / MAX_KILLS));
    if ((await read(run)).ended_at !== null) break;
    if (chance() < CONTROL_SHARE || killed.child === MAX_CHILD_KILLS) {
      killed.control += 1;
      await killControl();
      continue;
    }
    const children = cluster.of('control').flatMap(({ pid }) => comparisonChildren(pid));
    killAll(children);
    if (children.length > 0) killed.child += 1;
  }
  return killed;
}

/** Compares as the run does, in a child of this process, with a page size of its own, while the child is killed. */
async function checksumInPages({ id }: RunBody, pageRecords: number, chance: () => number): Promise<string> {
  const run = await stores.runs.get(id as RunId);
  if (!run || !isRunOf(run, 'compare')) throw new Error(`${id} is no comparison`);
  const facts: RunChildFacts = {
    source: {
      kind: 'kafka',
      connection: { brokers: services.kafka.brokers, clientId: 'carillon-replay' },
      registry: { url: services.registry.url },
    },
    folder: join(folder, 'pages'),
    ledgerKey: loadKeys(cluster.dataDir, {}).ledgerKey,
    pageRecords,
    trouble: () => undefined,
    watch: {
      ended: () => undefined,
      begin: () => ({ read: () => undefined, childEnded: () => undefined, end: () => undefined }),
    },
  };
  const runChild = createRunChild(facts);
  const reports = {
    begin: async () => undefined,
    progress: async () => undefined,
    slots: async () => [],
    lookups: async () => undefined,
  };
  const edited = { edit: await stores.runs.edit(id as RunId) };
  const comparing = runChild.execute<'compare'>(run, edited, reports, new AbortController().signal);
  const state = { isOver: false };
  const over = comparing.finally(() => (state.isOver = true));
  for (let kills = Math.floor(between(chance, 0, MAX_CHILD_KILLS + 1)); kills > 0 && !state.isOver; kills -= 1) {
    await Promise.race([over, pause(between(chance, 200, 3_000))]);
    killAll(comparisonChildren(process.pid));
  }
  const { checksum } = await over;
  await runChild.forget({ id: run.id });
  return checksum;
}

/** Declares the runs whose kills a seed chooses. */
export function declareKilledComparison(seed: number): void {
  describeWith(['kafka', 'mongodb', 'registry'], 'A comparison on a cluster', () => {
    beforeAll(async () => {
      const made = await scratch();
      ({ folder } = made);
      ends.push(made.remove);
      services = await startClusterServices();
      ends.push(() => services.stop());
      const members = { control: 2, gateway: 0, delivery: 0 };
      cluster = await startCluster({ services, dataDir: join(folder, 'data'), members });
      ends.push(() => cluster.stop());
      log = await openKafkaLog({ connection: { brokers: services.kafka.brokers, clientId: 'proof' } });
      ends.push(() => log.close());
      const { url } = services.mongodb;
      const mongo = await openMongo({ url, database: DATABASE, clock: systemClock, collections: COLLECTIONS });
      ends.push(() => mongo.close());
      stores = createStores(mongo.documents);
      const client = new MongoClient(url);
      ends.push(() => client.close());
      db = client.db(DATABASE);

      await ask('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' });
      // No event fires when it comes, so no delivery changes during a comparison.
      await apply('event.total > 1000', SILENT_BASKETS);
      for (let from = 0; from < EVENTS; from += 1_000) {
        await log.append(Array.from({ length: 1_000 }, (_, index) => eventOf(from + index)));
      }
      await log.append(Array.from({ length: BASKET_EVENTS }, (_, index) => basketEvent(index, PARTITIONS)));
      await apply('event.total > 100');
      await untilFound(
        'all is evaluated',
        async () => (await isEvaluated(log, mongo.checkpoints)) || undefined,
        TIMEOUT_MS,
      );
      // It repeats markers, and evaluates them. A comparison needs no engine.
      for (const engine of cluster.of('engine')) await engine.stop();
      await untilAllIsRead(log, db);
    }, TIMEOUT_MS);
    afterAll(async () => {
      await Promise.all(starting);
      for (const end of ends.toReversed()) await end();
    }, TIMEOUT_MS);

    it(
      'comes to one checksum, the same counts and the same rows if it is killed at random, and writes its own result only',
      async () => {
        const chance = createChance(seed);
        const others = await clusterContents(log, db);
        const startedAt = performance.now();
        const whole = await ended(await start());
        const tookMs = performance.now() - startedAt;
        expect(whole).toMatchObject({ state: 'done', counts: { differences: { changed: 0 } } });
        const { added = 0, removed = 0, unchanged = 0 } = whole.counts?.differences ?? {};
        expect(Math.min(added, removed, unchanged)).toBeGreaterThan(100);
        const ofBaskets = whole.counts?.by_rule.filter(({ rule }) => rule.startsWith('basket.')) ?? [];
        for (const rule of ofBaskets) expect(rule.added, rule.rule).toBeGreaterThan(100);
        expect(ofBaskets).toHaveLength(2);
        const rows = await rowsOf(whole);
        expect(rows).toHaveLength(added + removed);
        const killed = { control: 0, child: 0 };
        for (let number = 1; number <= RUNS; number += 1) {
          const begun = await start();
          const { control, child } = await killAtRandom(begun, tookMs, chance);
          killed.control += control;
          killed.child += child;
          const run = await ended(begun);
          const name = `run ${number} of seed ${seed}`;
          expect(run, name).toMatchObject({
            state: 'done',
            reason: null,
            checksum: whole.checksum,
            counts: whole.counts,
          });
          expect(await rowsOf(run), name).toEqual(rows);
          await Promise.all(starting);
          expect(await clusterContents(log, db), name).toEqual(others);
          const pageRecords = Math.ceil(500 ** chance());
          expect(await checksumInPages(run, pageRecords, chance), `${name}, ${pageRecords} a page`).toBe(
            whole.checksum,
          );
        }
        expect(killed.control).toBeGreaterThan(0);
        expect(killed.control + killed.child).toBeGreaterThanOrEqual(RUNS / 2);
        console.log(`${RUNS} runs of ${rows.length} rows on a cluster, killed: ${JSON.stringify(killed)}`);
      },
      TIMEOUT_MS,
    );
  });
}
