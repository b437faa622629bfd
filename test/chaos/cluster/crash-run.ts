import { join } from 'node:path';
import { messageOf } from '@carillon/kernel';
import { startCluster, type Cluster, type RoleName, type ServicesOnSharedRegistry } from '@carillon/testing/cluster';
import { createChance } from '../../harness/chance.ts';
import { readEvidence } from '../../harness/evidence.ts';
import type { Finding } from '../../harness/promises.ts';
import { startClients } from '../clients.ts';
import { judgeRun, type JudgedRun } from '../judge-run.ts';
import { neighboursThrough, type Network } from '../network.ts';
import { withOutsideServers, type OutsideOptions, type OutsideServers } from '../outside-servers.ts';
import type { Posters } from '../posters.ts';
import type { Mixture } from '../posts.ts';
import { lookAt, settle } from '../settle.ts';
import { openShop, SHOP_ENVIRONMENT } from '../shop.ts';
import { countAtWork } from './at-work.ts';
import { cutsOf, outagesOf } from './cuts.ts';
import type { Site } from './faults.ts';
import { openClusterStores } from './stores.ts';
import { superviseCluster, type Fault, type Supervisor } from './supervisor.ts';

export type ClusterCrashOptions = {
  readonly services: ServicesOnSharedRegistry;
  /** A database of its own: the same services may serve several runs, each with a log of its own. */
  readonly database: string;
  readonly seed: number;
  readonly events: number;
  /** Events in a second, at most. */
  readonly rate: number;
  readonly mixture?: Mixture;
  /** How long clients send an event again; a minute, unless told. */
  readonly patience?: number;
  /** Where nothing has moved for so long, nobody waits any longer; left out: longer than a lease, its sweep and a session. */
  readonly quiet?: number;
  readonly members?: Readonly<Partial<Record<RoleName, number>>>;
  readonly smtp?: OutsideOptions['smtp'];
  /** What befalls the product while events are posted; resolves when it is over and everything runs again. */
  readonly faults: (site: Site) => Promise<void>;
  /** Stands between all parts; left out: nothing does. */
  readonly network?: Network;
  /** Environment of the product: how bugs are planted. */
  readonly env?: Readonly<Record<string, string>>;
};

export type ClusterCrashReport = Omit<JudgedRun, 'sends'> & {
  /** Processes that ended though nobody had killed them. */
  readonly deaths: readonly string[];
  readonly faults: readonly Fault[];
  /** How long clients went on posting after the last fault; 0 where they had finished before it. */
  readonly postedAfter: number;
  /** What all members wrote. */
  readonly logs: string;
};

const SMTP = { latency: 60, tempfail: 0.03, drop: 0.01 };
const POSTERS = 16;
/** Runs roles as processes under load and faults, lets them come to rest, stops them and judges what they left behind. */
export const runClusterCrashes = (options: ClusterCrashOptions): Promise<ClusterCrashReport> =>
  withOutsideServers({ seed: options.seed, smtp: options.smtp ?? SMTP }, async (servers) => {
    const { network } = options;
    const cluster = await startCluster({
      services: network ? await reachedThrough(network, options.services) : options.services,
      dataDir: join(servers.folder, 'data'),
      members: options.members ?? { gateway: 2, engine: 2, delivery: 2 },
      env: {
        ...SHOP_ENVIRONMENT,
        ...servers.providers.env,
        CARILLON_MONGODB_DATABASE: options.database,
        ...options.env,
      },
    });
    const supervisor = superviseCluster(cluster);
    try {
      return await crash(options, { cluster, supervisor, servers });
    } finally {
      supervisor.abandon();
      await killAll(cluster);
    }
  });

/** The same services, as the roles see them. */
const reachedThrough = async (
  network: Network,
  services: ServicesOnSharedRegistry,
): Promise<ServicesOnSharedRegistry> => ({
  ...services,
  kafka: { ...services.kafka, brokers: await network.throughBrokers(services.kafka.brokers) },
  mongodb: { ...services.mongodb, url: await network.through('roles-database', services.mongodb.url) },
  registry: { ...services.registry, url: await network.through('roles-registry', services.registry.url) },
});

async function killAll({ members }: Cluster): Promise<void> {
  await Promise.all(members.map((member) => member.kill()));
}

type Parts = { readonly cluster: Cluster; readonly supervisor: Supervisor; readonly servers: OutsideServers };

/** What faults can reach. */
const siteOf = (
  { services, seed }: ClusterCrashOptions,
  { cluster, supervisor, servers: { partner, smtp } }: Parts,
  posters: Posters,
): Site => ({
  cluster,
  services,
  supervisor,
  chance: createChance(seed ^ 0x5eed),
  taken: () => posters.taken(),
  openPorts: () => [
    ...partner.calls.filter(({ endedAt }) => endedAt === Number.POSITIVE_INFINITY).map(({ port }) => port),
    ...smtp.underWay(),
    ...posters.requests.filter(({ until }) => until === Number.POSITIVE_INFINITY).map(({ port }) => port),
  ],
});

async function crash(options: ClusterCrashOptions, parts: Parts): Promise<ClusterCrashReport> {
  const { cluster, supervisor, servers } = parts;
  const { services, seed, network } = options;
  const gateways = await Promise.all(
    cluster.of('gateway').map(async ({ address }) => network?.through('clients-gateway', address) ?? address),
  );
  const neighbours = await neighboursThrough(network, servers);
  let turn = 0;
  const began = Date.now();
  const clients = startClients(servers, {
    seed,
    keys: await openShop(servers.folder, cluster.dataDir, neighbours),
    // As a load balancer would, without looking who is well.
    gateway: () => Promise.resolve(gateways[(turn += 1) % gateways.length] ?? ''),
    posters: POSTERS,
    rate: options.rate / POSTERS,
    events: options.events,
    mixture: options.mixture,
    patience: options.patience,
  });
  const { posters, reporter } = clients;
  await options.faults(siteOf(options, parts, posters));
  const lastFault = Date.now();
  const given: Finding[] = [];
  const postedAt = await posters.finish().catch((error: unknown) => {
    given.push({ kind: 'stuck', what: messageOf(error) });
    return Date.now();
  });
  const since = Math.max(lastFault, postedAt);
  const stores = await openClusterStores(services, options.database);
  try {
    // Where an event is not taken at all, there is nothing to wait for.
    const { quiet: standstill } = options;
    const settling = { since, ...(standstill !== undefined && { standstill }) };
    const settled = given.length > 0 ? undefined : await settle(lookAt(stores), settling);
    const settledAfter = settled?.after ?? 0;
    await reporter.stop();
    await supervisor.end();
    await (given.length > 0 ? killAll(cluster) : cluster.stop());
    const stopped = Date.now();
    const { faults, deaths } = supervisor;
    const judged = await judgeRun({
      evidence: await readEvidence(stores),
      settledAfter,
      leftOpen: settled?.open ?? [],
      servers,
      clients,
      cuts: { delivery: cutsOf('delivery', faults), engine: cutsOf('engine', faults), outages: outagesOf(faults) },
      network,
    });
    const faultsLike = (pattern: RegExp): number => faults.filter(({ what }) => pattern.test(what)).length;
    return {
      ...judged,
      findings: [...given, ...judged.findings],
      deaths,
      faults,
      postedAfter: since - lastFault,
      logs: cluster.members.map((member) => `--- ${member.name}\n${member.log()}`).join(''),
      figures: {
        ...judged.figures,
        kills: faultsLike(/^kill/),
        held: faultsLike(/^hold/),
        joinsAndLeaves: faultsLike(/joined$|left$/),
        killsAtWork: countAtWork(faults, { ...posters, calls: servers.partner.calls, sends: judged.sends }),
        postedMs: since - began,
        faultsMs: lastFault - began,
        stoppedMs: stopped - since - settledAfter,
        judgedMs: Date.now() - stopped,
      },
    };
  } finally {
    await stores.close();
  }
}
