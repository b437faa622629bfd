import { CarillonError, isCarillonError, type ErrorCode } from '@carillon/kernel';
import { createHealth } from '../process/health.ts';
import { memoryChecks } from '../process/memory-limit.ts';
import { leaveEndpoints, ownerToken } from '../process/owner.ts';
import {
  startControlRole,
  startDeliveryRole,
  startEngineRole,
  startGatewayRole,
  startHealthServer,
} from '../process/roles.ts';
import type { Environment, ProcessSettings } from '../process/settings.ts';
import { HEALTH_PORTS } from './health-ports.ts';
import type { RoleName } from './role-names.ts';
import { type Closing, createClosing, openFoundation, type Foundation } from '../process/foundation.ts';

export type RunningRole = {
  readonly role: RoleName;
  readonly place: string;
  /** Address of the role. Engine and delivery serve only their health there. */
  readonly address: string;
  /** Where `/livez`, `/readyz` and `/metrics` are. */
  readonly health: string;
  /** One-time token of the welcome link. Null except at the first start of control. */
  readonly welcome: string | null;
  close(): Promise<void>;
};

/** Starts one role; any number of processes may do so on the same cluster. `listens` is waited for before it takes its ports. */
export async function startRole(
  role: RoleName,
  settings: ProcessSettings,
  env: Environment,
  fatal: (error: CarillonError) => void,
  listens: () => Promise<void> = async () => undefined,
): Promise<RunningRole> {
  const closing = createClosing();
  try {
    const foundation = await openFoundation(settings, env, { name: `carillon ${role}`, closing, fatal });
    for (const { detail } of memoryChecks()) foundation.watches.logger.warn({ role, detail }, 'little memory');
    await listens();
    const started = await startOne(role, foundation, env, closing);
    return { role, place: foundation.backend.place, ...started, close: () => closing.close() };
  } catch (error) {
    await closing.close().catch((late: unknown) => process.emitWarning(String(late)));
    throw error;
  }
}

const AWAY: ReadonlySet<ErrorCode> = new Set(['log_unavailable', 'store_unavailable']);

/**
 * Adds to the error of an unreachable log or store that the role ends and that its supervisor must restart it. Returns
 * other errors unchanged. A role only ends so while it starts, because its address may then be wrong. A running role
 * waits for the dependency instead.
 */
export function endsWhereAway(error: unknown): unknown {
  if (!isCarillonError(error) || !AWAY.has(error.code)) return error;
  const detail =
    `${error.detail}. It ends with exit code 1, and what runs it has to start it again ` +
    '(restart: unless-stopped in Compose, Restart=always in systemd, a Deployment in Kubernetes)';
  return new CarillonError(error.code, detail, error.facts, { cause: error });
}

async function startOne(
  role: RoleName,
  foundation: Foundation,
  env: Environment,
  closing: Closing,
): Promise<Pick<RunningRole, 'address' | 'health' | 'welcome'>> {
  const { settings } = foundation;
  const health = createHealth(foundation, role === 'delivery')(role);
  const startHealth = (one: keyof typeof HEALTH_PORTS): Promise<string> =>
    startHealthServer(foundation, settings.healthPort ?? HEALTH_PORTS[one], health, closing);
  switch (role) {
    case 'gateway': {
      const address = await startGatewayRole(foundation, health, closing);
      return { address, health: await startHealth(role), welcome: null };
    }
    case 'engine':
      await startEngineRole(foundation, closing);
      break;
    case 'delivery':
      await startDeliveryRole(foundation, closing);
      break;
    case 'control': {
      const owner = ownerToken(settings.dataDir, env['CARILLON_OWNER_TOKEN']);
      const gateway = `http://${settings.host}:${settings.gatewayPort}`;
      const eventsUrl = settings.eventsUrl ?? `${gateway}/events`;
      const facts = { ownerToken: owner.token, eventsUrl };
      const { address, newLinkWord } = await startControlRole(foundation, facts, health, closing);
      leaveEndpoints(settings.dataDir, { control: address, gateway });
      return { address, health: address, welcome: await owner.greet(newLinkWord) };
    }
  }
  const address = await startHealth(role);
  return { address, health: address, welcome: null };
}
