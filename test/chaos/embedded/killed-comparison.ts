import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { loadKeys } from '@carillon/adapter-system';
import type { RunBody, RunRowBody } from '@carillon/contracts';
import type { ResourceChange } from '@carillon/domain/configuration';
import type { CompareRun } from '@carillon/domain/runs';
import { startProduct, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRunChild } from '../../../apps/cli/src/replay/run-child.ts';
import { openShop, order, restartOver, shopFiles, shopOf, type Shop } from '../../integration/product/shop.ts';
import { tableContents, untilAllIsRead, WRITTEN_BY_RUNS } from '../../integration/product/table-contents.ts';
import { between, createChance } from '../../harness/chance.ts';
import { BASKET_EVENTS, basketEvent, BASKETS_AFTER, BASKETS_BEFORE, SILENT_BASKETS } from '../compared-baskets.ts';
import { comparisonChildren, killAll } from '../comparison-children.ts';

/*
 * One comparison is repeated while its child and the product are killed at random moments, and with pages of 1 to 500 records. Each
 * repetition comes to the same checksum, counts and rows, and writes its own result and nothing else. Two files have 25 runs
 * each, CARILLON_COMPARED_RUNS makes them shorter. A seed repeats the same kills.
 */

const RUNS = Number(process.env['CARILLON_COMPARED_RUNS'] ?? 25);
const TIMEOUT_MS = 20 * 60_000;
/** A run of so many events is mostly the start of its child, its rows and the kills. */
const EVENTS = 5_000;
const PARTITIONS = 8;
const MAX_KILLS = 3;
const PATH = '/v1/workspaces/shop/runs';
const RULES = 'workspaces/shop/notifications/order-paid.yaml';
const filesWith = (condition: string, baskets = BASKETS_BEFORE) => ({
  ...shopFiles(),
  ...baskets,
  [RULES]: (shopFiles()[RULES] ?? '').replace('event.total > 100', condition),
});
/** Adds, removes and leaves messages. */
const EDIT = filesWith('event.total > 80 && event.total < 150', BASKETS_AFTER);

let shop: Shop;
let close: () => Promise<void>;
function eventOf(index: number) {
  const total = 90 + (index % 4) * 30;
  const event = order(`A-${index % 2_248}`, { email: `person${index % 748}@example.com`, total });
  return {
    topic: 'carillon.events',
    partition: index % PARTITIONS,
    key: `k${index}`,
    value: new TextEncoder().encode(JSON.stringify(event)),
    headers: { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders', event_id: `evt_${index}` },
  } as const;
}

/** Tables that no run writes. */
const othersIn = (contents: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...contents].filter(([table]) => !WRITTEN_BY_RUNS.includes(table)));
/** Tables that a start of the product writes: its engine repeats the markers of the configuration. */
const WRITTEN_AT_START = ['checkpoints', 'partitions', 'records'];
const withoutLog = (contents: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...contents].filter(([table]) => !WRITTEN_AT_START.includes(table)));

const countMarkers = (): number => {
  const db = new DatabaseSync(join(shop.dataDir, 'carillon.db'), { readOnly: true, timeout: 5_000 });
  try {
    const row = db.prepare(`SELECT count(*) AS markers FROM records WHERE key = 'marker'`).get();
    return Number(row?.['markers']);
  } finally {
    db.close();
  }
};
/** Markers on the log once the newest start of the product has repeated them. After a kill it waits for a lease to end first. */
let markersAfterStart = 0;

/** The server closes idle connections, and a client may notice that only when it sends the next request. */
const ask = <Body>(...[method, path, body]: Parameters<Shop['api']>) =>
  untilFound(`an answer of ${method} ${path}`, () => shop.api<Body>(method, path, body).catch(() => undefined));

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
      return body.ended_at === null ? undefined : body;
    },
    TIMEOUT_MS,
  );

/** Slot, difference and slot state of each row. */
async function rowsOf({ id }: RunBody): Promise<readonly string[]> {
  const rows: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    type Rows = { readonly items: readonly RunRowBody[]; readonly next: string | null };
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body }: { readonly body: Rows } = await ask<Rows>('GET', `${PATH}/${id}/rows?limit=500${query}`);
    rows.push(...body.items.map((row) => `${row.slot} ${row.difference} ${row.slot_state} ${row.event}`));
    cursor = body.next;
  }
  return rows.toSorted();
}

async function killProduct(): Promise<void> {
  await shop.product.kill('SIGKILL');
  markersAfterStart = countMarkers() + PARTITIONS;
  const product = await startProduct({ dataDir: shop.dataDir });
  const closeBefore = close;
  close = async () => {
    await product.kill('SIGKILL');
    await closeBefore();
  };
  shop = shopOf(product, shop.folder, shop.dataDir, shop.key);
}

type Killed = 'child' | 'product';

/** Kills the child or the product at random moments of a run that takes about `tookMs`. Returns the killed. */
async function killAtRandom(run: RunBody, tookMs: number, chance: () => number): Promise<readonly Killed[]> {
  const killed: Killed[] = [];
  const kills = Math.floor(between(chance, 1, MAX_KILLS + 1));
  while (killed.length < kills) {
    await pause(between(chance, 0, tookMs / MAX_KILLS));
    if ((await read(run)).ended_at !== null) break;
    const isProduct = chance() < 0.3;
    killed.push(isProduct ? 'product' : 'child');
    if (isProduct) await killProduct();
    else killAll(comparisonChildren(shop.product.pid));
  }
  return killed;
}

/** Compares as the run does, in a child of this process, with a page size of its own, while the child is killed. */
async function checksumInPages({ id }: RunBody, pageRecords: number, chance: () => number): Promise<string> {
  const db = new DatabaseSync(join(shop.dataDir, 'carillon.db'), { readOnly: true });
  const row = db.prepare('SELECT document, edit FROM runs WHERE id = ?').get(id);
  db.close();
  const run = JSON.parse(String(row?.['document'])) as CompareRun;
  const edit = JSON.parse(String(row?.['edit'])) as ResourceChange[];
  const runChild = createRunChild({
    source: { kind: 'embedded', dataDir: shop.dataDir },
    folder: join(shop.dataDir, 'runs'),
    ledgerKey: loadKeys(shop.dataDir, {}).ledgerKey,
    pageRecords,
    trouble: () => undefined,
    watch: {
      ended: () => undefined,
      begin: () => ({ read: () => undefined, childEnded: () => undefined, end: () => undefined }),
    },
  });
  const reports = {
    begin: async () => undefined,
    progress: async () => undefined,
    slots: async () => [],
    lookups: async () => undefined,
  };
  const comparing = runChild.execute<'compare'>(run, { edit }, reports, new AbortController().signal);
  let isOver = false;
  const over = comparing.finally(() => (isOver = true));
  for (let kills = Math.floor(between(chance, 0, MAX_KILLS)); kills > 0 && !isOver; kills -= 1) {
    await Promise.race([over, pause(between(chance, 200, 3_000))]);
    killAll(comparisonChildren(process.pid));
  }
  const { checksum } = await over;
  await runChild.forget({ id: run.id });
  return checksum;
}

/** Declares the runs whose kills a seed chooses. */
export function declareKilledComparison(seed: number): void {
  beforeAll(async () => {
    // No event fires when it comes, so no delivery changes during a comparison.
    const restarted = await restartOver(
      await openShop({ files: filesWith('event.total > 1000', SILENT_BASKETS) }),
      async ({ log }) => {
        for (let from = 0; from < EVENTS; from += 1_000) {
          await log.append(Array.from({ length: 1_000 }, (_, index) => eventOf(from + index)));
        }
        await log.append(Array.from({ length: BASKET_EVENTS }, (_, index) => basketEvent(index, PARTITIONS)));
      },
    );
    shop = restarted;
    close = () => restarted.close();
    for (let last = 1; last <= PARTITIONS; last += 1) await shop.judged(`evt_basket${BASKET_EVENTS - last}`);
    await shop.apply(filesWith('event.total > 100'));
    // Five seconds after a change the engine repeats its markers, unless it started after the change.
    await killProduct();
    await untilFound('the markers are repeated', async () => countMarkers() >= markersAfterStart || undefined);
    await untilAllIsRead(shop.dataDir);
  }, TIMEOUT_MS);
  afterAll(() => close?.());

  describe('A comparison that is killed at random', () => {
    it(
      'comes to one checksum, the same counts and the same rows, and writes its own result only',
      async () => {
        const chance = createChance(seed);
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
        let others = othersIn(tableContents(shop.dataDir));
        let isAtRest = true;
        let fullyCompared = 0;
        const killed = { product: 0, child: 0 };
        for (let number = 1; number <= RUNS; number += 1) {
          const begun = await start();
          const killedNow = await killAtRandom(begun, tookMs, chance);
          for (const what of killedNow) killed[what] += 1;
          const run = await ended(begun);
          const name = `run ${number} of seed ${seed}`;
          expect(run, name).toMatchObject({ state: 'done', checksum: whole.checksum, counts: whole.counts });
          expect(await rowsOf(run), name).toEqual(rows);
          const found = othersIn(tableContents(shop.dataDir));
          expect(withoutLog(found), name).toEqual(withoutLog(others));
          if (isAtRest && !killedNow.includes('product')) {
            expect(found, name).toEqual(others);
            fullyCompared += 1;
          }
          isAtRest = countMarkers() >= markersAfterStart;
          if (isAtRest) await untilAllIsRead(shop.dataDir);
          others = othersIn(tableContents(shop.dataDir));
          const pageRecords = Math.ceil(500 ** chance());
          expect(await checksumInPages(run, pageRecords, chance), `${name}, ${pageRecords} a page`).toBe(
            whole.checksum,
          );
        }
        expect(killed.child + killed.product).toBeGreaterThanOrEqual(RUNS / 2);
        console.log(
          `${RUNS} runs of ${rows.length} rows, killed: ${JSON.stringify(killed)}, log compared: ${fullyCompared}`,
        );
      },
      TIMEOUT_MS,
    );
  });
}
