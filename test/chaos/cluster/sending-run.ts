import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryBody, JobBody, RunBody, RunMissingBody, TraceBody } from '@carillon/contracts';
import { startScriptedSmtp } from '@carillon/testing';
import { startCluster, type Cluster, type ClusterServices, type Member } from '@carillon/testing/cluster';
import { planting, type Change } from '../../harness/planting.ts';
import { caller, request, scratch, smtpDeployment, type Answered } from '../../integration/product/shop.ts';
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
import { untilAnswered } from './reading-cluster.ts';

const RUNS = '/v1/workspaces/shop/runs';
const LOOK_MS = 100;
/** Time to reach a failpoint. Without enough work a place is not reached. */
const ARMED_MS = 20_000;
const LAST_WORDS = 2_000;
/** Sessions and leases end sooner than in the product, because after each kill somebody waits for their end. */
const SHORT_LEASES: readonly Change[] = [
  { file: 'libs/adapters/kafka/src/kafka-log.ts', from: 'sessionTimeout: 10_000,', to: 'sessionTimeout: 3_000,' },
  {
    file: 'apps/control/src/jobs/runner.ts',
    from: 'const LEASE: Duration = 15_000;',
    to: 'const LEASE: Duration = 6_000;',
  },
  {
    file: 'libs/stages/src/deliver/step-into-sending.ts',
    from: 'export const LEASE: Duration = 30_000;',
    to: 'export const LEASE: Duration = 10_000;',
  },
];

/** Of Kafka, which permits no sessions so short by itself. */
export const SHORT_SESSIONS_PERMITTED = { 'group.min.session.timeout.ms': '1000' };

export type ClusterSendingOptions = {
  readonly services: ClusterServices;
  /** Processes are killed at these, one after the other. */
  readonly failpoints: readonly string[];
  /** Bound on the rounds: each looks at both comparisons and sends their newest messages. Rounds end when the failpoints are used up. */
  readonly maxRounds: number;
  /** Missing messages per round. */
  readonly messages: number;
  /** Messages per second of each of the two jobs. */
  readonly rate: number;
};

/** A round of sending. */
export type ClusterSendingRound = Uncounted &
  Reached & {
    /** Messages that the look found. */
    readonly missing: number;
    readonly jobs: readonly Pick<JobBody, 'state' | 'done' | 'failed'>[];
    readonly seconds: number;
  };

type RoundFacts = Omit<ClusterSendingRound, keyof Reached>;

export type ClusterSending = {
  readonly rounds: readonly ClusterSendingRound[];
  /** Failpoints at which a process was killed. */
  readonly reached: readonly string[];
  /** What processes wrote last that ended otherwise. */
  readonly deaths: readonly string[];
  /** Counts of a verification of the log after all rounds. */
  readonly verified: RunBody['verified'];
};

type Wave = { readonly orders: readonly MissingOrder[]; readonly since: string };

/** Starts members again that have ended, as the supervisor of a deployment would. */
function superviseFailing(members: readonly Member[]) {
  const deaths: string[] = [];
  const starting = new Map<Member, Promise<void>>();
  let isEnding = false;
  const watching = (async () => {
    while (!isEnding) {
      for (const member of members) {
        if (member.running || starting.has(member)) continue;
        const log = member.log();
        if (!/failpoint \S+: kill$/.test(log.trimEnd())) deaths.push(`${member.name}: ${log.slice(-LAST_WORDS)}`);
        const started = member.start().catch((error: unknown) => void deaths.push(String(error)));
        starting.set(
          member,
          started.finally(() => starting.delete(member)),
        );
      }
      await pause(LOOK_MS);
    }
  })();
  return {
    deaths,
    async end(): Promise<void> {
      isEnding = true;
      await watching;
      await Promise.all(starting.values());
    },
  };
}

/**
 * Kills processes at failpoints, one after the other, until it is aborted. The next call continues with those that are left. A failpoint that
 * no process reaches in time is tried once more at the end.
 */
function createKiller(folder: string, failpoints: readonly string[]) {
  const left = failpoints.map((failpoint) => ({ failpoint, isLastTry: false }));
  const reached: string[] = [];
  const file = join(folder, 'orders');
  async function killUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && left[0] !== undefined) {
      const [{ failpoint, isLastTry }] = left;
      await armFailpoint(folder, failpoint);
      const until = Date.now() + ARMED_MS;
      while (!signal.aborted && existsSync(file) && Date.now() < until) await pause(LOOK_MS);
      const isReached = !existsSync(file);
      if (isReached) reached.push(failpoint);
      else await rm(file, { force: true });
      if (!isReached && signal.aborted) return;
      left.shift();
      if (!isReached && !isLastTry) left.push({ failpoint, isLastTry: true });
    }
  }
  return { reached, killUntil, isDone: () => left.length === 0 };
}

/** The shop on a cluster. Each call asks until a process answers. */
function shopOn(cluster: Cluster, key: string) {
  const ask = <Body>(method: string, path: string, body?: unknown): Promise<Answered<Body>> =>
    untilAnswered(`an answer of ${method} ${path}`, async () => {
      const control = cluster.of('control').find(({ running }) => running);
      const api = caller({ controlUrl: control?.address ?? '', token: cluster.token });
      const answer = await api<Body>(method, path, body);
      return answer.status === 503 ? undefined : answer;
    });
  return {
    ask,
    send: (event: MissingOrder): Promise<string> =>
      untilAnswered('an event is taken', async () => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const init = { method: 'POST', headers, body: JSON.stringify(event) };
        const { status, body } = await request<{ id: string }>(`${cluster.gatewayUrl}/events/shop/orders`, init);
        return status === 202 ? body.id : undefined;
      }),
    judged: (id: string): Promise<true> =>
      untilAnswered(`${id} is evaluated`, async () => {
        const { body } = await ask<TraceBody>('GET', `/v1/workspaces/shop/events/${id}/trace`);
        const isJudged = ({ step, text }: TraceBody['steps'][number]): boolean =>
          step === 'evaluation' && !text.startsWith('not evaluated yet');
        return body.steps?.some(isJudged) || undefined;
      }),
    ended: <Body extends { readonly ended_at: string | null }>(path: string): Promise<Body> =>
      untilAnswered(`${path} has ended`, async () => {
        const { body } = await ask<Body>('GET', path);
        return body.ended_at === null ? undefined : body;
      }),
  };
}
type ShopOnCluster = ReturnType<typeof shopOn>;

async function postWave(shop: ShopOnCluster, number: number, messages: number): Promise<Wave> {
  await pause(GAP_MS);
  const since = new Date().toISOString();
  const orders = missingOrders(number, messages);
  await Promise.all(orders.map((event) => shop.send(event)));
  return { orders, since };
}

/**
 * Sends missing messages of two comparisons at once on a cluster, while the live rule fires for some of the same people and processes are
 * killed. Counts messages at the mail server. Each round sends the newest events that no round has sent.
 */
export async function sendOnCluster(options: ClusterSendingOptions): Promise<ClusterSending> {
  const { services, failpoints, messages, rate } = options;
  const smtp = await startScriptedSmtp();
  const { folder, remove } = await scratch();
  const rules = rulesOf(smtpDeployment(smtp.port).replace('backend: embedded', 'backend: cluster'));
  const cluster = await startCluster({
    services,
    dataDir: join(folder, 'data'),
    members: { control: 2, engine: 2, delivery: 2 },
    env: {
      // Half of the time of a start is compiling.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      FAILPOINTS: `@${join(folder, 'orders')}`,
      ...planting([...FAILPOINTS_IN_THE_PRODUCT, ...SHORT_LEASES]),
    },
  });
  const supervisor = superviseFailing(cluster.members);
  const killer = createKiller(folder, failpoints);
  const rounds: RoundFacts[] = [];

  async function round(shop: ShopOnCluster, runs: readonly string[], { orders, since }: Wave): Promise<RoundFacts> {
    const began = Date.now();
    const looks = await Promise.all(
      runs.map(async (run) => (await shop.ask<RunMissingBody>('GET', `${RUNS}/${run}/missing?since=${since}`)).body),
    );
    const sending = await Promise.all(
      looks.map(async ({ run, count, checksum }) => {
        const sent = await shop.ask<JobBody>('POST', `${RUNS}/${run}/send`, { count, checksum, since, rate });
        return sent.body.id;
      }),
    );
    const over = new AbortController();
    const killing = killer.killUntil(over.signal);
    const live = Promise.all(liveOrders(orders).map((event) => shop.send(event)));
    const jobs = await Promise.all(sending.map((id) => shop.ended<JobBody>(`/v1/workspaces/shop/jobs/${id}`)));
    over.abort();
    await killing;
    for (const id of await live) await shop.judged(id);
    await untilAnswered('each message has ended', async () => {
      const newest = `/v1/workspaces/shop/deliveries?limit=${2 * messages}`;
      const { body } = await shop.ask<{ items: readonly DeliveryBody[] }>('GET', newest);
      return endedDeliveries(orders, body.items);
    });
    return {
      missing: looks[0]?.count ?? 0,
      orders,
      sending,
      jobs: jobs.map(({ state, done, failed }) => ({ state, done, failed })),
      seconds: (Date.now() - began) / 1_000,
    };
  }

  try {
    const setUp = shopOn(cluster, '');
    const made = await setUp.ask<{ key: string }>('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' });
    const shop = shopOn(cluster, made.body.key);
    const apply = async (files: typeof rules.live): Promise<void> => {
      const { status, body } = await shop.ask('POST', '/v1/configuration/apply', { files, prune: false });
      if (status !== 200) throw new Error(`not applied: ${JSON.stringify(body)}`);
    };
    await apply(rules.live);
    const waves: Wave[] = [];
    for (let number = 0; number < options.maxRounds; number += 1) waves.push(await postWave(shop, number, messages));
    const runs: string[] = [];
    while (runs.length < 2) {
      const { body } = await shop.ask<RunBody>('POST', RUNS, { folder: { files: rules.edited, prune: false } });
      await shop.ended<RunBody>(`${RUNS}/${body.id}`);
      runs.push(body.id);
    }
    await apply(rules.edited);
    for (const wave of waves.toReversed()) {
      rounds.push(await round(shop, runs, wave));
      if (killer.isDone()) break;
    }
    const counted = await untilAnswered('all messages have ended', async () => {
      const listed = await readDeliveries(async (path) => (await shop.ask<DeliveryPage>('GET', path)).body);
      return countReached(rounds, listed, smtp.accepted);
    });
    const verifying = await shop.ask<RunBody>('POST', RUNS, { kind: 'verify' });
    const { verified } = await shop.ended<RunBody>(`${RUNS}/${verifying.body.id}`);
    await supervisor.end();
    return { rounds: counted, reached: killer.reached, deaths: supervisor.deaths, verified };
  } finally {
    await supervisor.end();
    await cluster.stop();
    await smtp.stop();
    await remove();
  }
}
