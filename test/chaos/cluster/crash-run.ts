import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@carillon/kernel';
import { startLedgerSmtp, type LedgerSmtp } from '@carillon/testing';
import { startCluster, type Cluster, type RoleName, type ServicesOnSharedRegistry } from '@carillon/testing/cluster';
import { createChance } from '../../harness/chance.ts';
import { coverageOf, showsTooLittle } from '../coverage.ts';
import { readEvidence } from '../../harness/evidence.ts';
import { figuresOf } from '../figures.ts';
import { startBookedPartner, type BookedPartner } from '../partner.ts';
import type { Edge, Network } from '../network.ts';
import { startPosters } from '../posters.ts';
import type { Mixture } from '../posts.ts';
import { readBooks, startProviders, type Providers } from '../providers.ts';
import { createReporter, type Reporter } from '../reporter.ts';
import { openShop, SHOP_ENVIRONMENT } from '../shop.ts';
import type { Finding } from '../../harness/promises.ts';
import { judge, type Course } from '../verdict.ts';
import { countAtWork } from './at-work.ts';
import { cutsOf, outagesOf } from './cuts.ts';
import type { Site } from './faults.ts';
import { lookAt, settle } from '../settle.ts';
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
  readonly smtp?: { readonly latency: number; readonly tempfail: number; readonly drop: number };
  /** What befalls the product while events are posted; resolves when it is over and everything runs again. */
  readonly faults: (site: Site) => Promise<void>;
  /** Stands between all parts; left out: nothing does. */
  readonly network?: Network;
  /** Environment of the product: how bugs are planted. */
  readonly env?: Readonly<Record<string, string>>;
};

export type ClusterCrashReport = {
  readonly findings: readonly Finding[];
  /** Null: it shows enough, or the machine was too slow to say. */
  readonly showsTooLittle: string | null;
  /** Processes that ended though nobody had killed them. */
  readonly deaths: readonly string[];
  readonly faults: readonly Fault[];
  readonly figures: Readonly<Record<string, number>>;
  /** How long clients went on posting after the last fault; 0 where they had finished before it. */
  readonly postedAfter: number;
  /** From the last fault, or the last 202 where that came later, until it was at rest. */
  readonly settledAfter: number;
  /** What all members wrote. */
  readonly logs: string;
};

const SMTP = { latency: 60, tempfail: 0.03, drop: 0.01 };
const POSTERS = 16;
/** Runs roles as processes under load and faults, lets them come to rest, stops them and judges what they left behind. */
export async function runClusterCrashes(options: ClusterCrashOptions): Promise<ClusterCrashReport> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-crash-'));
  const file = join(folder, 'mail.jsonl');
  const smtp = await startLedgerSmtp({ file, seed: String(options.seed), ...(options.smtp ?? SMTP) });
  const partner = await startBookedPartner(options.seed);
  const onSms: { tell: Reporter['onSms'] } = { tell: async () => undefined };
  const providers = await startProviders(folder, (message) => onSms.tell(message));
  const { network } = options;
  const cluster = await startCluster({
    services: network ? await reachedThrough(network, options.services) : options.services,
    dataDir: join(folder, 'data'),
    members: options.members ?? { gateway: 2, engine: 2, delivery: 2 },
    env: { ...SHOP_ENVIRONMENT, ...providers.env, CARILLON_MONGODB_DATABASE: options.database, ...options.env },
  });
  const supervisor = superviseCluster(cluster);
  try {
    return await crash(options, folder, { cluster, supervisor, smtp, partner, providers }, onSms);
  } finally {
    supervisor.abandon();
    await killAll(cluster);
    await providers.stop();
    await partner.stop();
    await smtp.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

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

type Parts = {
  readonly cluster: Cluster;
  readonly supervisor: Supervisor;
  readonly smtp: LedgerSmtp;
  readonly partner: BookedPartner;
  readonly providers: Providers;
};

/** What faults can reach. */
const siteOf = (
  { services, seed }: ClusterCrashOptions,
  { cluster, supervisor, partner, smtp }: Parts,
  posters: ReturnType<typeof startPosters>,
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

type Through = (edge: Edge, address: string) => Promise<string>;

/** The servers beside the cluster, as its roles reach them. */
async function neighboursOf({ partner, smtp, providers }: Parts, through: Through) {
  const mailServer = await through('delivery-smtp', `127.0.0.1:${smtp.port}`);
  return {
    smtpPort: Number(mailServer.split(':')[1]),
    partnerUrl: await through('engine-partner', partner.url),
    providers: providers.places,
  };
}

async function crash(
  options: ClusterCrashOptions,
  folder: string,
  parts: Parts,
  onSms: { tell: Reporter['onSms'] },
): Promise<ClusterCrashReport> {
  const { cluster, supervisor, smtp, partner, providers } = parts;
  const { services, seed, network } = options;
  const through: Through = async (edge, address) => (network ? network.through(edge, address) : address);
  const gateways = await Promise.all(cluster.of('gateway').map(({ address }) => through('clients-gateway', address)));
  const neighbours = await neighboursOf(parts, through);
  let turn = 0;
  // As a load balancer would, without looking who is well.
  const balanced = (): Promise<string> => Promise.resolve(gateways[(turn += 1) % gateways.length] ?? '');
  const began = Date.now();
  const posters = startPosters({
    seed,
    keys: await openShop(folder, cluster.dataDir, neighbours),
    gateway: balanced,
    posters: POSTERS,
    rate: options.rate / POSTERS,
    events: options.events,
    ...(options.mixture && { mixture: options.mixture }),
    ...(options.patience !== undefined && { patience: options.patience }),
  });
  const reporter = createReporter({ seed, gateway: balanced, optedOut: posters.posts.optedOut });
  onSms.tell = reporter.onSms;
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
    const evidence = await readEvidence(stores);
    const { mail, sends } = await readBooks(smtp, providers, evidence);
    const { acknowledged, changes, firstMembers } = posters.posts;
    const course: Course = {
      acknowledged,
      changes,
      firstMembers,
      mail,
      atKills: { sends, kills: cutsOf('delivery', supervisor.faults) },
      answersLost: network?.resets('delivery-smtp') ?? [],
      partner: {
        calls: partner.calls,
        cuts: [...cutsOf('engine', supervisor.faults), ...(network?.cuts() ?? [])],
        outages: outagesOf(supervisor.faults),
      },
      settledAfter,
      leftOpen: settled?.open ?? [],
      reports: reporter,
    };
    const coverage = coverageOf(course, evidence);
    const faultsLike = (pattern: RegExp): number => supervisor.faults.filter(({ what }) => pattern.test(what)).length;
    return {
      findings: [...given, ...judge(course, evidence)],
      showsTooLittle: showsTooLittle(coverage),
      deaths: supervisor.deaths,
      faults: supervisor.faults,
      postedAfter: since - lastFault,
      settledAfter,
      logs: cluster.members.map((member) => `--- ${member.name}\n${member.log()}`).join(''),
      figures: {
        kills: faultsLike(/^kill/),
        held: faultsLike(/^hold/),
        joinsAndLeaves: faultsLike(/joined$|left$/),
        ...figuresOf(posters, evidence),
        ...coverage,
        killsAtWork: countAtWork(supervisor.faults, { ...posters, calls: partner.calls, sends }),
        partnerAnswers: partner.calls.filter(({ answered }) => answered).length,
        messages: mail.length,
        texted: providers.twilio.messages.length,
        pushed: providers.fcm.messages.length,
        reported: reporter.answered.size,
        dropsPlanted: mail.filter(({ dropped }) => dropped).length,
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
