import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchProduct, startLedgerSmtp, untilFound, type LaunchedProduct, type Product } from '@carillon/testing';
import { readEvidence } from './evidence.ts';
import type { Acknowledged } from './posters.ts';
import { CONNECTIONS, openShop, STREAM, WORKSPACE } from './shop.ts';
import { judge, type Finding } from './verdict.ts';

/** How one failpoint ended: for the event that was under way when the process failed there. */
export type FailpointOutcome = {
  /** The process ended at the place (`kill`). Else it went on, or never came there. */
  readonly killed: boolean;
  /** State and reason of the delivery in the end. */
  readonly state: string;
  /** Messages that the mail server took for it. */
  readonly messages: number;
};

export type FailpointLab = {
  /** Runs the product with these FAILPOINTS, posts events one after the other, restarts it without them where it dies. */
  run(failpoints: string): Promise<FailpointOutcome>;
  /** Stops everything and holds all that was acknowledged against what is on the log, in the ledger and in the mail. */
  verdict(): Promise<readonly Finding[]>;
  close(): Promise<void>;
};

/** Enough that the third time a place is reached belongs to one of them, whatever a start reaches by itself. */
const EVENTS = 5;
const ENDS_WITHIN = 20_000;

type Row = { readonly state: string; readonly reason: string; readonly unique_id: string };

/** One data folder for all cases: what one leaves behind, the next one finds, as in a life. */
export async function openFailpointLab(): Promise<FailpointLab> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-failpoints-'));
  const dataDir = join(folder, 'data');
  const smtp = await startLedgerSmtp({ file: join(folder, 'mail.jsonl'), seed: '1', latency: 5, tempfail: 0, drop: 0 });
  const lives: LaunchedProduct[] = [];
  const acknowledged: Acknowledged[] = [];
  let number = 0;
  let kills = 0;

  const launch = (env: Readonly<Record<string, string>> = {}): LaunchedProduct => {
    const life = launchProduct({ dataDir, env });
    lives.push(life);
    return life;
  };
  const first = launch();
  await first.ready;
  const apiKey = await openShop(folder, dataDir, smtp.port);
  await first.kill('SIGTERM');

  /** Null: nobody answered, or not with 202. */
  async function post(product: Product, uniqueId: string): Promise<string | null> {
    const to = `${uniqueId}@example.org`;
    const answer = await fetch(`${product.gatewayUrl}/events/${STREAM}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': `key-${uniqueId}`,
      },
      body: JSON.stringify({ order_id: uniqueId, status: 'paid', email: to }),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null);
    if (answer?.status !== 202) return null;
    const { id } = (await answer.json()) as { id: string };
    if (acknowledged.every((one) => one.uniqueId !== uniqueId)) {
      acknowledged.push({ eventId: id, idempotencyKey: `key-${uniqueId}`, uniqueId, to });
    }
    return id;
  }

  async function deliveryOf(product: Product, eventId: string): Promise<Row | undefined> {
    const url = `${product.controlUrl}/v1/workspaces/${WORKSPACE}/deliveries?event=${eventId}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${product.token}` } }).catch(() => null);
    if (!answer?.ok) return undefined;
    const { items } = (await answer.json()) as { items: readonly Row[] };
    return items.find(({ state }) => state !== 'WAITING' && state !== 'SENDING');
  }

  /** Posts until it is taken, and waits until its delivery is where it stays. Null: the product died before. */
  async function tellOne(life: LaunchedProduct, product: Product, uniqueId: string): Promise<Row | null> {
    let dead = false;
    void life.exited.then(() => (dead = true));
    let eventId: string | null = null;
    return untilFound(
      `${uniqueId} is told`,
      async () => {
        if (dead) return null;
        eventId ??= await post(product, uniqueId);
        return eventId === null ? undefined : deliveryOf(product, eventId);
      },
      ENDS_WITHIN,
    );
  }

  const outcomeOf = async (row: Row | null, killed: boolean): Promise<FailpointOutcome> => ({
    killed,
    state: row ? `${row.state} ${row.reason}` : '',
    messages: (await smtp.entries()).filter(({ subject }) => subject === row?.unique_id).length,
  });

  async function run(failpoints: string): Promise<FailpointOutcome> {
    const life = launch({ FAILPOINTS: failpoints });
    let uniqueId = '';
    let row: Row | null = null;
    const product = await life.ready.catch(() => null);
    for (let posted = 0; product && posted < EVENTS; posted += 1) {
      number += 1;
      uniqueId = `case-${number}`;
      row = await tellOne(life, product, uniqueId);
      if (!row) break;
    }
    if (product && row) {
      await life.kill('SIGTERM');
      return outcomeOf(row, false);
    }
    await life.exited;
    kills += 1;
    const next = launch();
    row = await tellOne(next, await next.ready, uniqueId === '' ? `case-${(number += 1)}` : uniqueId);
    await next.kill('SIGTERM');
    return outcomeOf(row, true);
  }

  return {
    run,
    async verdict() {
      // A last life finishes what a stop left unread.
      const last = launch();
      const product = await last.ready;
      number += 1;
      await tellOne(last, product, `case-${number}`);
      await last.kill('SIGTERM');
      const course = { acknowledged, mail: await smtp.entries(), callsAtKills: kills * CONNECTIONS };
      return judge(course, await readEvidence(dataDir));
    },
    async close() {
      await Promise.all(lives.map((life) => life.kill('SIGKILL')));
      await smtp.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
