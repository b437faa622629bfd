import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openMongo } from '@carillon/adapter-mongodb';
import { systemClock } from '@carillon/adapter-system';
import { startScriptedSmtp } from '@carillon/testing';
import { startCluster, type Cluster, type ServicesOnSharedRegistry } from '@carillon/testing/cluster';
import type { ServicePart } from '@carillon/testing/services';
import { COLLECTIONS } from '@carillon/stores';
import { between, createChance } from '../../harness/chance.ts';
import { readEvidence } from '../../harness/evidence.ts';
import { planting } from '../../harness/planting.ts';
import { caller, shopOf, smtpDeployment } from '../../integration/product/shop.ts';
import { verifyWhole } from '../../support/verify-log.ts';
import { evaluateAgain } from '../evaluate-again.ts';
import { armFailpoint } from '../failpoints/arming.ts';
import { FAILPOINTS_IN_THE_PRODUCT } from '../failpoints/planted-failpoints.ts';
import { lookAt, settle } from '../settle.ts';
import {
  compareOwed,
  owedBy,
  startOrderClients,
  WAITING_FILES,
  waitingFailpoint,
  type TakenMail,
} from '../waiting-orders.ts';
import { untilAnswered } from './reading-cluster.ts';
import { openClusterStores } from './stores.ts';
import { superviseCluster, type Supervisor } from './supervisor.ts';

export type ClusterWaitsOptions = {
  readonly services: ServicesOnSharedRegistry;
  readonly database: string;
  readonly seed: number;
  readonly orders: number;
  /** Kills at least. They go on while events come. */
  readonly kills: number;
  /** Environment of the product: how bugs are planted. */
  readonly env?: Readonly<Record<string, string>>;
};

/** Longer than the session of a consumer (10 s), so that another engine has the partitions when this one goes on. */
const HELD_MS = 16_000;
/** Holds of an engine. */
const HOLDS = 2;
/** Time in which a process may reach a failpoint. */
const ARMED_MS = 6_000;
/** Share of kills at a failpoint. */
const AT_FAILPOINTS = 0.4;
const LOOK_MS = 50;

/** Kills roles, broker and stores of a cluster while orders come, and compares what it sent with what the log owes. */
export async function runClusterWaits({ services, database, seed, orders, kills, env = {} }: ClusterWaitsOptions) {
  const mails: TakenMail[] = [];
  const smtp = await startScriptedSmtp({
    onAccepted: async ({ raw }) => {
      mails.push({ at: Date.now(), subject: /^subject: (.*)$/im.exec(raw)?.[1]?.trim() ?? '' });
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'carillon-waits-'));
  const dataDir = join(folder, 'data');
  const cluster = await startCluster({
    services,
    dataDir,
    members: { gateway: 2, engine: 2, delivery: 2 },
    env: {
      CARILLON_MONGODB_DATABASE: database,
      NODE_COMPILE_CACHE: join(folder, 'cache'),
      FAILPOINTS: `@${join(folder, 'orders')}`,
      ...planting(FAILPOINTS_IN_THE_PRODUCT),
      ...env,
    },
  });
  const supervisor = superviseCluster(cluster);
  try {
    const key = await openShopOn(cluster, smtp.port);
    const gateways = cluster.of('gateway');
    let turn = 0;
    const clients = startOrderClients({ orders, seed, key }, async () => {
      turn += 1;
      return gateways[turn % gateways.length]?.address ?? '';
    });
    let isDone = false;
    const done = clients.done.then(() => (isDone = true));
    const faults = { kills, goesOn: () => !isDone, folder, chance: createChance(seed ^ 0x5eed) };
    const [failpoints] = await Promise.all([
      killInTurn(cluster, services, supervisor, faults),
      holdEngines(cluster, supervisor),
    ]);
    await done;
    const since = Date.now();
    await rm(join(folder, 'orders'), { force: true });
    const stores = await openClusterStores(services, database);
    try {
      await untilNothingWaits(services, database, stores.log.partitions('carillon.events'));
      const { open } = await settle(lookAt(stores), { since });
      await supervisor.end();
      await cluster.stop();
      const report = compareOwed(await owedBy(stores.log), await readEvidence(stores), mails);
      const findings = [...report.findings, ...open.map((what) => `it does not go on: ${what}`)];
      const intents = await evaluateAgain(stores.log, stores.registry, dataDir, async () => undefined);
      const verified = await verifyWhole(dataDir, stores, {
        source: {
          kind: 'kafka',
          connection: { brokers: services.kafka.brokers, clientId: 'verify' },
          registry: { url: services.registry.url },
        },
      });
      const faultsLike = (pattern: RegExp): number => supervisor.faults.filter(({ what }) => pattern.test(what)).length;
      const figures = {
        events: clients.taken(),
        kills: faultsLike(/^kill/),
        holds: faultsLike(/^hold/),
        failpoints,
      };
      // A kill by a failpoint is an end that the supervisor did not cause.
      const deaths = supervisor.deaths.filter((death) => !/failpoint \S+: kill\s*$/.test(death));
      const timeline = supervisor.faults.map(({ at, what }) => `${new Date(at).toISOString()} ${what}`).join('\n');
      const logs = cluster.members.map((member) => `--- ${member.name}\n${member.log().slice(-20_000)}`).join('\n');
      return { ...report, findings, intents, verified, figures, deaths, story: `${timeline}\n${logs}` };
    } finally {
      await stores.close();
    }
  } finally {
    supervisor.abandon();
    await Promise.all(cluster.members.map((member) => member.kill()));
    await smtp.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the workspace. Returns the key of its clients. */
async function openShopOn({ controlUrl, gatewayUrl, token, dataDir }: Cluster, smtpPort: number): Promise<string> {
  const product = { controlUrl, gatewayUrl, token };
  const { body } = await caller(product)<{ key: string }>('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' });
  const files = { 'carillon.yaml': smtpDeployment(smtpPort), ...WAITING_FILES };
  await shopOf(product as Parameters<typeof shopOf>[0], dataDir, dataDir, body.key).apply(files);
  return body.key;
}

type Killing = {
  readonly kills: number;
  readonly goesOn: () => boolean;
  readonly folder: string;
  readonly chance: () => number;
};

/** Kills engines, deliveries, the broker and the stores in an order of chance. Returns how many ended at a failpoint. */
async function killInTurn(
  cluster: Cluster,
  { kafka, mongodb }: ServicesOnSharedRegistry,
  supervisor: Supervisor,
  { kills, goesOn, folder, chance }: Killing,
): Promise<number> {
  const members = [...cluster.of('engine'), ...cluster.of('engine'), ...cluster.of('delivery')];
  const parts: readonly ServicePart[] = [...members, ...kafka.nodes, ...Object.values(mongodb.parts)];
  const outages = new Map<ServicePart, Promise<void>>();
  const orders = join(folder, 'orders');
  let failpoints = 0;
  for (let done = 0; done < kills || goesOn();) {
    await pause(between(chance, 500, 4_000));
    if (chance() < AT_FAILPOINTS) {
      await armFailpoint(folder, waitingFailpoint(chance));
      for (const until = Date.now() + ARMED_MS; existsSync(orders) && Date.now() < until;) await pause(LOOK_MS);
      if (existsSync(orders)) continue;
      failpoints += 1;
      done += 1;
      continue;
    }
    const part = parts[Math.floor(chance() * parts.length)];
    if (!part || supervisor.isHeld(part)) continue;
    done += 1;
    const member = members.find((each) => each === part);
    if (member) {
      while (!member.running || supervisor.isStarting(member)) await pause(LOOK_MS);
      await supervisor.kill(member);
    } else {
      await outages.get(part);
      outages.set(part, supervisor.outage(part, between(chance, 0, 2_000)));
    }
  }
  await Promise.all(outages.values());
  return failpoints;
}

/** Holds an engine still until another one has its partitions, and lets it go on. */
async function holdEngines(cluster: Cluster, supervisor: Supervisor): Promise<void> {
  for (let hold = 0; hold < HOLDS; hold += 1) {
    await pause(HELD_MS);
    const findEngine = async () => cluster.of('engine').find((each) => each.running && !supervisor.isStarting(each));
    await supervisor.freeze(await untilAnswered('an engine that runs', findEngine), HELD_MS);
  }
}

/** Waits until no entity waits in any partition. */
async function untilNothingWaits(
  { mongodb }: ServicesOnSharedRegistry,
  database: string,
  partitions: number,
): Promise<void> {
  const stores = await openMongo({ url: mongodb.url, database, clock: systemClock, collections: COLLECTIONS });
  try {
    await untilAnswered('nothing waits', async () => {
      for (let partition = 0; partition < partitions; partition += 1) {
        if ((await stores.ruleStates.earliestDue(partition)) !== null) return undefined;
      }
      return true;
    });
  } finally {
    await stores.close();
  }
}
