import { setTimeout as pause } from 'node:timers/promises';
import type { TopicName } from '@carillon/ports';
import { untilFound } from '@carillon/testing';
import type { Cluster, Member, ServicesOnSharedRegistry } from '@carillon/testing/cluster';
import type { ServicePart } from '@carillon/testing/services';
import { Kafka, logLevel } from 'kafkajs';
import { between } from '../../harness/chance.ts';
import { CALL_LEASE } from '../shop.ts';
import { portsOf } from './process-ports.ts';
import type { Supervisor } from './supervisor.ts';

/** Everything that can be made to fail. */
export type Site = {
  readonly cluster: Cluster;
  readonly services: ServicesOnSharedRegistry;
  readonly supervisor: Supervisor;
  readonly chance: () => number;
  /** Events acknowledged so far. */
  readonly taken: () => number;
  /** The ports of the product by which something is open now: a call to the partner, a mail, a request of a client. */
  readonly openPorts: () => readonly number[];
};

/** Waits between two kills. */
const CALM = { least: 500, most: 4_000 };
/** Share of kills that do not wait where the member is just being started, and so hit it while it recovers. */
const KILLED_AT_START = 0.3;
/**
 * How long a kill waits until there is work under way: longer than a group takes to miss a member that was killed before.
 * And how long it lets that work go on, at most.
 */
const WORK_WITHIN = 12_000;
const INTO_WORK = 20;
const LOOKS_EVERY = 5;
/** How long a broker or a database stays away, beyond the time that it takes to start. */
const AWAY = { least: 0, most: 2_000 };

/** The same items in an order of chance. */
function shuffled<Item>(items: readonly Item[], chance: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, place: chance() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Longer than a session of a consumer (10 s) and the lease of a call to the partner, and than that of a mail (30 s). */
const BEYOND_CALL_LEASE = CALL_LEASE + 4_000;
const BEYOND_MAIL_LEASE = 40_000;

/** Events taken, after which everybody has something under way. */
const BUSY = 100;

/** All there is: kills, a worker of each kind held still until others have its work, and a storm of rebalances. */
export async function everything(site: Site, kills: number): Promise<void> {
  const { cluster, supervisor } = site;
  const freeze = async (member: Member | undefined, span: number): Promise<void> => {
    // Whoever is held before there is work has nothing in mind when it wakes.
    await untilFound('events before somebody is held', async () => site.taken() >= BUSY || undefined, 120_000);
    if (member) await supervisor.freeze(member, span);
  };
  await Promise.all([
    freeze(cluster.of('engine').at(-1), BEYOND_CALL_LEASE),
    freeze(cluster.of('delivery').at(-1), BEYOND_MAIL_LEASE),
    killAtRandom(site, kills),
  ]);
  await stormOfRebalances(site, 40, 60_000);
}

/**
 * Kills every member, broker and part of the database in turn, in an order and at moments of chance, of which most are
 * looked for while there is work under way.
 */
export async function killAtRandom(site: Site, kills: number): Promise<void> {
  const { cluster, services, supervisor, chance } = site;
  const members = [...cluster.members];
  const parts = [...services.kafka.nodes, ...Object.values(services.mongodb.parts)];
  const outages = new Map<ServicePart, Promise<void>>();
  const isMember = (part: ServicePart): part is Member => members.some((member) => member === part);
  let turn: readonly ServicePart[] = [];
  for (let done = 0; done < kills; done += 1) {
    await pause(between(chance, CALM.least, CALM.most));
    // Who is held still has nothing under way: its turn comes later.
    const isFree = (part: ServicePart): boolean => !supervisor.isHeld(part);
    if (!turn.some(isFree)) turn = shuffled([...members, ...parts], chance);
    const next = turn.find(isFree);
    if (!next) return;
    turn = turn.filter((part) => part !== next);
    if (isMember(next)) {
      const atStart = chance() < KILLED_AT_START;
      while (!next.running || (!atStart && supervisor.isStarting(next))) await pause(50);
      if (!supervisor.isStarting(next)) await untilAtWork(site, next);
      await supervisor.kill(next);
    } else {
      await outages.get(next);
      await untilAtWork(site, next);
      outages.set(next, supervisor.outage(next, between(chance, AWAY.least, AWAY.most)));
    }
  }
  await Promise.all(outages.values());
}

/**
 * Resolves at a moment of chance while something is open with this process, or with any where it is none of the product.
 * Where there is nothing for long (control has nothing of that kind) it resolves all the same.
 */
async function untilAtWork({ cluster, chance, openPorts }: Site, part: ServicePart): Promise<void> {
  const ofProduct = cluster.members.some((member) => member === part);
  const isAtWork = (): boolean => {
    const open = openPorts();
    if (!ofProduct || open.length === 0) return open.length > 0;
    const ports = portsOf(part.pid);
    return open.some((port) => ports.has(port));
  };
  const within = part.name.startsWith('control') ? 0 : WORK_WITHIN;
  for (const until = Date.now() + within; Date.now() < until; await pause(LOOKS_EVERY)) {
    if (!isAtWork()) continue;
    await pause(between(chance, 0, INTO_WORK));
    if (isAtWork()) return;
  }
}

/** Members of the engine and delivery groups come and go, each change a rebalance. */
export async function stormOfRebalances({ cluster, supervisor }: Site, changes: number, within: number): Promise<void> {
  const visits: Promise<void>[] = [];
  const pairs = changes / 2;
  const every = within / (pairs + 1);
  for (let pair = 0; pair < pairs; pair += 1) {
    visits.push(visit(pair % 2 === 0 ? 'engine' : 'delivery'));
    await pause(every);
  }
  await Promise.all(visits);

  async function visit(role: 'engine' | 'delivery'): Promise<void> {
    const guest = await cluster.join(role);
    supervisor.note(`${guest.name} joined`);
    await pause(every);
    await guest.stop();
    supervisor.note(`${guest.name} left`);
  }
}

/**
 * Kills the broker that leads the first partition of a topic, and starts it again after a while. Answers how many events
 * were taken meanwhile.
 */
export async function killLeader(
  { services, supervisor, taken }: Site,
  topic: TopicName,
  span: number,
): Promise<number> {
  const { brokers, nodes } = services.kafka;
  const admin = new Kafka({ clientId: 'crash-test', brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  await admin.disconnect();
  const leader = topics[0]?.partitions.find(({ partitionId }) => partitionId === 0)?.leader;
  const node = nodes.find(({ id }) => id === leader);
  if (!node) throw new Error(`nobody leads ${topic}/0`);
  await untilFound('events before the fault', async () => taken() > 100 || undefined);
  const before = taken();
  await supervisor.kill(node);
  await pause(span);
  const without = taken() - before;
  await node.restart();
  return without;
}
