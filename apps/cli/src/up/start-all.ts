import type { CarillonError } from '@carillon/kernel';
import { createHealth } from '../process/health.ts';
import { memoryChecks } from '../process/memory-limit.ts';
import { leaveEndpoints, ownerToken } from '../process/owner.ts';
import { startControlRole, startDeliveryRole, startEngineRole, startGatewayRole } from '../process/roles.ts';
import type { Environment, ProcessSettings } from '../process/settings.ts';
import { createClosing, openFoundation } from '../process/foundation.ts';
import { startDemo } from './demo.ts';
import type { ScreenFacts } from './screen.ts';

export type Running = { readonly facts: ScreenFacts; close(): Promise<void> };

export type UpOptions = {
  /** Fill an empty deployment with the demo workspace. */
  readonly demo: boolean;
  /** Where the demo's files are written. */
  readonly demoDir: string;
  /** Waited for before it takes its ports. */
  readonly listens?: () => Promise<void>;
  /** Called at most once: the process has to end. */
  readonly fatal: (error: CarillonError) => void;
};

/** Opens log and stores and starts every role over them; read from top to bottom, it is the product. */
export async function startAll(settings: ProcessSettings, env: Environment, options: UpOptions): Promise<Running> {
  const closing = createClosing();
  try {
    const foundation = await openFoundation(settings, env, { name: 'carillon up', closing, fatal: options.fatal });
    for (const { detail } of memoryChecks()) foundation.watches.logger.warn({ detail }, 'little memory');
    await options.listens?.();
    const { backend, configuration } = foundation;
    const health = createHealth(foundation, true);
    const { recovered } = await startDeliveryRole(foundation, closing);
    await startEngineRole(foundation, closing);
    const gateway = await startGatewayRole(foundation, health('gateway'), closing);
    const owner = ownerToken(settings.dataDir, env['CARILLON_OWNER_TOKEN']);
    const eventsUrl = settings.eventsUrl ?? `${gateway}/events`;
    const control = await startControlRole(
      foundation,
      { ownerToken: owner.token, eventsUrl },
      health('control'),
      closing,
    );
    const empty = configuration.current().number < 0;
    const demo = options.demo && empty ? await startDemo(options.demoDir, control.ports) : null;
    leaveEndpoints(settings.dataDir, { control: control.address, gateway });
    const facts: ScreenFacts = {
      place: backend.place,
      dataDir: settings.dataDir,
      control: control.address,
      gateway,
      welcome: await owner.greet(control.newLinkWord),
      demo,
      recovered: { ...recovered, foundWal: backend.foundWal },
    };
    return { facts, close: () => closing.close() };
  } catch (error) {
    await closing.close().catch((late: unknown) => process.emitWarning(String(late)));
    throw error;
  }
}
