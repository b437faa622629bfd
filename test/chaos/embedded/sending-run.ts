import { join } from 'node:path';
import type { DeliveryBody, JobBody, RunBody, RunMissingBody } from '@carillon/contracts';
import { startProduct, startScriptedSmtp, untilFound } from '@carillon/testing';
import { planting } from '../../harness/planting.ts';
import { openShop, scratch, shopOf, smtpDeployment, type Shop } from '../../integration/product/shop.ts';
import { armFailpoint } from '../failpoints/arming.ts';
import { FAILPOINTS_IN_THE_PRODUCT } from '../failpoints/planted-failpoints.ts';
import {
  countReached,
  endedDeliveries,
  GAP_MS,
  liveOrders,
  missingOrders,
  readDeliveries,
  rulesOf,
  type DeliveryPage,
  type MissingOrder,
  type Reached,
  type Uncounted,
} from '../missing-messages.ts';

const RUNS = '/v1/workspaces/shop/runs';

/**
 * How the product dies while it sends: at these times in milliseconds after the start of sending or after the previous restart, or at a
 * failpoint such as `intents.append.after:3:kill`.
 */
export type Deaths = { readonly afterMs: readonly number[] } | { readonly failpoint: string };

export type SendingOptions = {
  /** One look and one sending of both comparisons each. */
  readonly rounds: readonly Deaths[];
  /** Missing messages per round. */
  readonly messages: number;
  /** Messages per second of each of the two jobs. */
  readonly rate: number;
};

/** A round of sending. */
export type SendingRound = Uncounted &
  Reached & {
    /** Messages that the look found. */
    readonly missing: number;
    readonly jobs: readonly Pick<JobBody, 'state' | 'done' | 'failed'>[];
    /** True if the product died as the round asked. */
    readonly died: boolean;
    readonly seconds: number;
  };

type RoundFacts = Omit<SendingRound, keyof Reached>;

/** Events of a round. */
type Wave = {
  readonly orders: readonly MissingOrder[];
  /** No event of the wave is older, and events of earlier waves are. */
  readonly since: string;
};

/** Asks until the product answers. A product that is down refuses connections. */
const persistently = <Found>(what: string, ask: () => Promise<Found | undefined>): Promise<Found> =>
  untilFound(what, () => ask().catch(() => undefined), 120_000);

/** Posts the events of a round. */
async function postWave(shop: Shop, number: number, messages: number): Promise<Wave> {
  await new Promise((resolve) => setTimeout(resolve, GAP_MS));
  const since = new Date().toISOString();
  const orders = missingOrders(number, messages);
  await Promise.all(orders.map((event) => persistently('an event is taken', async () => shop.send(event))));
  return { orders, since };
}

/**
 * Sends missing messages of two comparisons at once, while the live rule fires for some of the same people and the product is killed. Counts
 * messages at the mail server after the last round. All rounds have the two comparisons in common, and each sends the newest events that no round has sent, so
 * that a round costs one start of the product and not two comparisons.
 */
export async function sendUnderKills({ rounds: planned, messages, rate }: SendingOptions) {
  const smtp = await startScriptedSmtp();
  const rules = rulesOf(smtpDeployment(smtp.port));
  const { folder: cache, remove } = await scratch();
  // Half of the time of a start is compiling.
  const compiled = { NODE_COMPILE_CACHE: cache };
  const failing = { FAILPOINTS: `@${join(cache, 'orders')}`, ...planting(FAILPOINTS_IN_THE_PRODUCT) };
  const env = { ...compiled, ...(planned.some((deaths) => 'failpoint' in deaths) && failing) };
  const opened = await openShop({ files: rules.live, env });
  const { folder, dataDir, key } = opened;
  let shop: Shop = opened;
  const rounds: RoundFacts[] = [];

  async function restart(): Promise<void> {
    await shop.product.kill('SIGKILL');
    shop = shopOf(await startProduct({ dataDir, env }), folder, dataDir, key);
  }
  const compare = (): Promise<RunBody> =>
    persistently('the comparison is done', async () => {
      const { status, body } = await shop.api<RunBody>('POST', RUNS, {
        folder: { files: rules.edited, prune: false },
      });
      if (status !== 202) return undefined;
      return persistently('the run has ended', async () => {
        const { body: run } = await shop.api<RunBody>('GET', `${RUNS}/${body.id}`);
        return run.state === 'done' ? run : undefined;
      });
    });
  const ended = (id: string): Promise<JobBody> =>
    persistently(`${id} has ended`, async () => {
      const { body } = await shop.api<JobBody>('GET', `/v1/workspaces/shop/jobs/${id}`);
      return body.ended_at === null ? undefined : body;
    });

  async function round(runs: readonly RunBody[], { orders, since }: Wave, deaths: Deaths): Promise<RoundFacts> {
    const began = Date.now();
    const looks = await Promise.all(
      runs.map(async ({ id }) => (await shop.api<RunMissingBody>('GET', `${RUNS}/${id}/missing?since=${since}`)).body),
    );
    const dying = shop.product;
    const sending = await Promise.all(
      looks.map(
        async ({ run, count, checksum }) =>
          (await shop.api<JobBody>('POST', `${RUNS}/${run}/send`, { count, checksum, since, rate })).body.id,
      ),
    );
    if ('failpoint' in deaths) await armFailpoint(cache, deaths.failpoint);
    const live = Promise.all(
      liveOrders(orders).map((event) => persistently('a live event is taken', async () => shop.send(event))),
    );
    let died = true;
    for (const afterMs of 'afterMs' in deaths ? deaths.afterMs : []) {
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await restart();
    }
    if ('failpoint' in deaths) {
      died = await Promise.race([dying.exited.then(() => true), Promise.all(sending.map(ended)).then(() => false)]);
      await restart();
    }
    const jobs = await Promise.all(sending.map(ended));
    for (const id of await live) await shop.judged(id);
    await persistently('each message has ended', async () => {
      const newest = `/v1/workspaces/shop/deliveries?limit=${2 * messages}`;
      const { body } = await shop.api<{ items: readonly DeliveryBody[] }>('GET', newest);
      return endedDeliveries(orders, body.items);
    });
    return {
      missing: looks[0]?.count ?? 0,
      orders,
      sending,
      jobs: jobs.map(({ state, done, failed }) => ({ state, done, failed })),
      died,
      seconds: (Date.now() - began) / 1_000,
    };
  }

  try {
    const waves: Wave[] = [];
    for (const [index] of planned.entries()) waves.push(await postWave(shop, index, messages));
    const runs = [await compare(), await compare()];
    await shop.apply(rules.edited);
    for (const deaths of planned) {
      const newest = waves.pop();
      if (newest) rounds.push(await round(runs, newest, deaths));
    }
    const counted = await persistently('all messages have ended', async () => {
      const listed = await readDeliveries(async (path) => (await shop.api<DeliveryPage>('GET', path)).body);
      return countReached(rounds, listed, smtp.accepted);
    });
    const { body: verifying } = await shop.api<RunBody>('POST', RUNS, { kind: 'verify' });
    const verified = await persistently('the log is verified', async () => {
      const { body } = await shop.api<RunBody>('GET', `${RUNS}/${verifying.id}`);
      return body.ended_at === null ? undefined : body.verified;
    });
    return { rounds: counted, verified, stderr: shop.product.stderr() };
  } finally {
    await shop.product.kill('SIGKILL');
    await opened.close();
    await smtp.stop();
    await remove();
  }
}
