import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openKafkaLog } from '@carillon/adapter-kafka';
import type { JobBody, RunBody, RunMissingBody, RunStopBody, TraceBody } from '@carillon/contracts';
import type { TopicName } from '@carillon/ports';
import { startProduct, untilFound, type Product } from '@carillon/testing';
import { settingsFor, startServicesBeside, type ServicesOnSharedRegistry } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { caller, openShop, order, shopFiles, type Files, type Shop } from '../product/shop.ts';

/* An edited rule is compared and its missing messages are sent, by two processes over one Kafka and one MongoDB. */

const TIMEOUT = 600_000;
/** Between two looks. Each one takes time from the child, which has a low priority. */
const LOOK_MS = 200;
const RUNS = '/v1/workspaces/shop/runs';
const RULES = 'workspaces/shop/notifications/order-paid.yaml';
/** Events that neither side notifies anybody about. They make the run longer. */
const OTHERS = 2_000;

const WRITTEN_BY_NO_COMPARISON = [
  'carillon.intents',
  'carillon.triggers',
  'carillon.outcomes',
  'carillon.config',
] as const;
/** Orders that a second edit adds. */
const SMALL = 20;
/** Messages a second. */
const RATE = 2;
/** Within this time after a stop a job appends its last message. */
const STOP_MS = 2_000;

const filesAbove = (total: number): Files => ({
  ...shopFiles(),
  [RULES]: (shopFiles()[RULES] ?? '').replace('event.total > 100', `event.total > ${total}`),
});
/** Adds Bob and leaves Ada. */
const EDIT = filesAbove(80);
/** Adds people with small orders. */
const LARGER_EDIT = filesAbove(60);

type DeliveriesBody = {
  readonly items: readonly { readonly to: string; readonly event_id: string; readonly state: string }[];
};

/** Process id of the child that compares for a process of the product, if there is one. */
function childOf({ pid }: Pick<Product, 'pid'>): number | undefined {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const found = pids.find((child) => /replay[-/]child/.test(readFileSync(`/proc/${child}/cmdline`, 'utf8')));
  return found === undefined ? undefined : Number(found);
}

describeWith(['kafka', 'mongodb', 'registry'], 'An edited rule on a cluster', () => {
  let services: ServicesOnSharedRegistry;
  let shop: Shop & { close(): Promise<void> };
  let other: Product;
  /** Offsets behind the last records of the topics that a comparison may not write. */
  let endsOfTopics: (topics?: readonly TopicName[]) => Promise<readonly number[]>;
  const ends: (() => Promise<unknown> | void)[] = [];
  beforeAll(async () => {
    services = await startServicesBeside(await sharedServer('registry'));
    ends.push(() => services.stop());
    // Brokers of a busy machine answer late.
    const env = { ...settingsFor(services), CARILLON_START_PATIENCE: '120' };
    shop = await openShop({ env });
    ends.push(() => shop.close());
    const log = await openKafkaLog({ connection: { brokers: services.kafka.brokers, clientId: 'carillon-test' } });
    ends.push(() => log.close());
    const [first] = [await shop.send(order('A-1'))];
    await shop.judged(await shop.send(order('A-2', { total: 90, name: 'Bob', email: 'bob@example.com' })));
    await shop.delivered(first, 'SENT');
    for (let index = 0; index < SMALL; index += 1) {
      await shop.send(order(`S-${index}`, { total: 70, email: `small${index}@example.com` }));
    }
    const headers = { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders' };
    const value = new TextEncoder().encode(JSON.stringify(order('A-0', { status: 'open' })));
    await log.append(
      Array.from({ length: OTHERS }, (_, index) => {
        const event = { ...headers, event_id: `evt_OTHER${index}` };
        return { topic: 'carillon.events', partition: index % 8, key: 'other', value, headers: event } as const;
      }),
    );
    other = await startProduct({ dataDir: shop.dataDir, env });
    ends.push(() => other.kill('SIGKILL'));
    endsOfTopics = (topics = WRITTEN_BY_NO_COMPARISON) =>
      Promise.all(
        topics.flatMap((topic) =>
          Array.from(
            { length: log.partitions(topic) },
            async (_, partition) => (await log.bounds(topic, partition)).end,
          ),
        ),
      );
  }, TIMEOUT);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, TIMEOUT);

  /** Asks until a process answers. Brokers or stores of a busy machine may not answer in time. */
  const ask = <Body>(api: Shop['api'], ...[method, path, body]: Parameters<Shop['api']>) =>
    untilFound(`an answer of ${method} ${path}`, async () => {
      const answer = await api<Body>(method, path, body);
      return answer.status === 503 ? undefined : answer;
    });
  async function start(api: Shop['api'], files = EDIT): Promise<RunBody> {
    const { status, body } = await ask<RunBody>(api, 'POST', RUNS, { folder: { files, prune: false } });
    expect({ status, body }).toMatchObject({ status: 202 });
    return body;
  }
  const ended = (api: Shop['api'], { id }: RunBody): Promise<RunBody> =>
    untilFound(
      `run ${id} has ended`,
      async () => {
        const { body } = await ask<RunBody>(api, 'GET', `${RUNS}/${id}`);
        if (body.ended_at !== null) return body;
        await pause(LOOK_MS);
        return undefined;
      },
      TIMEOUT,
    );

  let run: RunBody;
  it(
    'is compared by one process, and by the other when that one stops, with the same checksum',
    async () => {
      const before = await endsOfTopics();
      run = await ended(shop.api, await start(shop.api));
      expect(run).toMatchObject({
        state: 'done',
        counts: { differences: { added: 1, removed: 0, unchanged: 1 }, slot_states: { added: { none: 1 } } },
      });
      const begun = await start(caller(other));
      // Whichever process took the run is stopped. Its child is held still, so that it does not end first.
      const [worker, successor] = await untilFound('a child compares', async () => {
        const pids = [shop.product, other].map(childOf);
        const at = pids.findIndex((pid) => pid !== undefined);
        if (at === -1) return undefined;
        process.kill(pids[at] ?? 0, 'SIGSTOP');
        return at === 0 ? [shop.product, other] : [other, shop.product];
      });
      await worker.kill('SIGTERM');
      const taken = await ended(caller(successor), begun);
      expect(taken).toMatchObject({ state: 'done', checksum: run.checksum, counts: run.counts });
      expect(await endsOfTopics()).toEqual(before);
      other = successor;
    },
    TIMEOUT,
  );

  it(
    'gets its missing messages sent once, with the person, the job and the run in the trace',
    async () => {
      const api = caller(other);
      const applied = await ask(api, 'POST', '/v1/configuration/apply', { files: EDIT, prune: false });
      expect(applied.status).toBe(200);
      const looked = await ask<RunMissingBody>(api, 'GET', `${RUNS}/${run.id}/missing`);
      expect(looked.body).toMatchObject({ count: 1 });
      const { count, checksum, since } = looked.body;
      const sent = await ask<JobBody>(api, 'POST', `${RUNS}/${run.id}/send`, { count, checksum, since });
      expect(sent.status).toBe(202);
      const job = await untilFound('the job has ended', async () => {
        const { body } = await ask<JobBody>(api, 'GET', `/v1/workspaces/shop/jobs/${sent.body.id}`);
        return body.ended_at === null ? undefined : body;
      });
      expect(job).toMatchObject({ state: 'done', done: 1, failed: 0 });
      const delivery = await untilFound('the message is sent', async () => {
        const { body } = await ask<DeliveriesBody>(api, 'GET', '/v1/workspaces/shop/deliveries?state=SENT');
        return body.items.find(({ to }) => to === 'bob@example.com');
      });
      const trace = await ask<TraceBody>(api, 'GET', `/v1/workspaces/shop/events/${delivery.event_id}/trace`);
      expect(JSON.stringify(trace.body)).toContain(`in ${sent.body.id} of ${run.id}`);
      const again = await ask<RunMissingBody>(api, 'GET', `${RUNS}/${run.id}/missing`);
      expect(again.body).toMatchObject({ count: 0 });
    },
    TIMEOUT,
  );

  it(
    'stops sending within two seconds, and the messages that were not sent are still missing',
    async () => {
      const api = caller(other);
      const compared = await ended(api, await start(api, LARGER_EDIT));
      await ask(api, 'POST', '/v1/configuration/apply', { files: LARGER_EDIT, prune: false });
      const path = `${RUNS}/${compared.id}`;
      const { body: look } = await ask<RunMissingBody>(api, 'GET', `${path}/missing`);
      expect(look.count).toBe(SMALL);
      const { count, checksum, since } = look;
      const { body: begun } = await ask<JobBody>(api, 'POST', `${path}/send`, { count, checksum, since, rate: RATE });
      const job = async () => (await ask<JobBody>(api, 'GET', `/v1/workspaces/shop/jobs/${begun.id}`)).body;
      await untilFound('two messages are on the log', async () => ((await job()).done >= 2 ? true : undefined));
      expect((await ask<RunStopBody>(api, 'POST', `${path}/stop`, {})).status).toBe(202);
      await pause(STOP_MS);
      const appended = await endsOfTopics(['carillon.intents']);
      const stopped = await untilFound('the job has ended', async () => {
        const body = await job();
        return body.ended_at === null ? undefined : body;
      });
      expect(stopped.state).toBe('cancelled');
      expect(stopped.done).toBeLessThan(SMALL);
      const states = () => ask<DeliveriesBody>(api, 'GET', `/v1/workspaces/shop/deliveries?limit=200`);
      const settled = await untilFound('no message of the job waits', async () => {
        const own = (await states()).body.items.filter(({ to }) => to.startsWith('small'));
        return own.length === stopped.done && own.every(({ state }) => state !== 'WAITING') ? own : undefined;
      });
      for (const { state } of settled) expect(['SENT', 'CANCELLED']).toContain(state);
      expect(await endsOfTopics(['carillon.intents'])).toEqual(appended);
      const { body: again } = await ask<RunMissingBody>(api, 'GET', `${path}/missing`);
      expect(again.count).toBe(SMALL - settled.length);
    },
    TIMEOUT,
  );
});
