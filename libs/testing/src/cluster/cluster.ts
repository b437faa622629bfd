import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../services/process/free-ports.ts';
import { untilFound } from '../smtp/deadline.ts';
import type { ServicesOnSharedRegistry } from './cluster-services.ts';
import { createMember, type Member, type RoleName } from './member.ts';

export type ClusterOptions = {
  /** Servers of the members. Undefined if `env` names them. */
  readonly services?: ServicesOnSharedRegistry;
  /** Keys, owner token and logs; what all members share. `cli(…, { dataDir })` finds the cluster by it. */
  readonly dataDir: string;
  /** How many processes of each role; one of each unless told. */
  readonly members?: Readonly<Partial<Record<RoleName, number>>>;
  /** Further environment of every member. */
  readonly env?: Readonly<Record<string, string>>;
  /** Program to run. Defaults to this checkout. */
  readonly program?: string;
};

/** The product with its roles as processes. */
export type Cluster = {
  readonly dataDir: string;
  /** In the order of their start: control, gateways, engines, deliveries. */
  readonly members: readonly Member[];
  of(role: RoleName): readonly Member[];
  /** The address of the first gateway, which takes events at `/events/…`. */
  readonly gatewayUrl: string;
  /** The management API and the portal. */
  readonly controlUrl: string;
  /** The owner's token for the management API. */
  readonly token: string;
  /** The environment that every member has: how a program finds the same services. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts one more process of a role, of another program if told, and waits until it is ready. */
  join(role: RoleName, program?: string): Promise<Member>;
  /** Ends the members in good order, those that were joined too. The services stay. */
  stop(): Promise<void>;
};

const ROLES: readonly RoleName[] = ['control', 'gateway', 'engine', 'delivery'];

/** Starts all roles as processes on the services and waits until each is ready. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { services, dataDir, members: counts = {} } = options;
  const logs = join(dataDir, 'logs');
  await mkdir(logs, { recursive: true });
  const [gatewayPort = 0] = await freePorts(1);
  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
  const env = { ...(services && settingsFor(services)), CARILLON_DATA_DIR: dataDir, ...options.env };

  const all: Member[] = [];
  const started = new Map<RoleName, number>();
  async function prepare(role: RoleName, program = options.program): Promise<Member> {
    const number = (started.get(role) ?? 0) + 1;
    started.set(role, number);
    const port = role === 'gateway' && number === 1 ? gatewayPort : ((await freePorts(1))[0] ?? 0);
    const healthPort = role === 'gateway' ? ((await freePorts(1))[0] ?? 0) : port;
    const name = `${role} ${number}`;
    // Control says where events go to, and cannot know by itself.
    const own = role === 'control' ? { ...env, CARILLON_GATEWAY_PORT: String(gatewayPort) } : env;
    const log = join(logs, `${role}-${number}.log`);
    const member = createMember({ role, name, port, healthPort, env: own, log, ...(program && { program }) });
    all.push(member);
    return member;
  }
  const each = async (act: (member: Member) => Promise<void>): Promise<void> => {
    const outcomes = await Promise.allSettled(all.map(act));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  };
  const stop = (): Promise<void> => each((member) => member.stop());

  for (const role of ROLES) for (let count = counts[role] ?? 1; count > 0; count -= 1) await prepare(role);
  try {
    await each((member) => member.start());
    // Control serves a moment before it writes the file by which commands find it.
    await untilFound('the address of control', () => existsSync(join(dataDir, 'endpoints.json')) || undefined);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    dataDir,
    members: all,
    of: (role) => all.filter((member) => member.role === role),
    gatewayUrl,
    controlUrl: all.find(({ role }) => role === 'control')?.address ?? '',
    token: readFileSync(join(dataDir, 'owner-token'), 'utf8').trim(),
    env,
    async join(role, program) {
      const member = await prepare(role, program);
      await member.start();
      return member;
    },
    stop,
  };
}

/** The settings by which a program finds these services. */
export const settingsFor = ({
  kafka,
  mongodb,
  registry,
}: ServicesOnSharedRegistry): Readonly<Record<string, string>> => ({
  CARILLON_BROKERS: kafka.brokers.join(','),
  CARILLON_SINGLE_BROKER: String(kafka.nodes.length === 1),
  CARILLON_MONGODB_URL: mongodb.url,
  CARILLON_SCHEMA_REGISTRY_URL: registry.url,
});
