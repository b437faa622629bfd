import { startControl, type ControlPorts } from '@carillon/control';
import { startDelivery, type DeliveryRole } from '@carillon/delivery';
import { startEngine } from '@carillon/engine';
import { CONFIGURATION_FRESH_FOR, startGateway } from '@carillon/gateway';
import { namedRetention } from '@carillon/domain/configuration';
import { createHttpServer, pause, serveDocs, type HealthSources } from '@carillon/runtime';
import { DOCS_FOLDER, PORTAL_FOLDER } from '../shipped-files.ts';
import { secretChecks } from './secret-checks.ts';
import { placeOfRuns } from '../replay/place-of-runs.ts';
import { createRunChild } from '../replay/run-child.ts';
import { VERSION } from '../version.ts';
import { backupTo } from './backup-file.ts';
import { diagnose } from './diagnose.ts';
import type { Closing, Foundation } from './foundation.ts';
import { erasingOf } from './erasing.ts';
import { keepRetention } from './keep-retention.ts';
import { deadLettersKept } from './dead-letters-kept.ts';
import { reportChecks } from './report-checks.ts';

/** The four roles over what they share: each of these starts one, in a process of its own or beside the others. */

const CLOSE_TIMEOUT_MS = 3_000;

export async function startDeliveryRole(foundation: Foundation, closing: Closing): Promise<DeliveryRole> {
  const { backend, watches } = foundation;
  const delivery = await startDelivery(
    { aloneOnStore: backend.alone, calledOffBelow: backend.calledOffBelow, calledOffJobs: backend.calledOffJobs },
    { ...foundation, leases: backend.leases, watch: watches.delivery() },
  );
  closing.add(() => delivery.close());
  return delivery;
}

export async function startEngineRole(foundation: Foundation, closing: Closing): Promise<void> {
  const { leases, calledOffCohortsBelow } = foundation.backend;
  const engine = await startEngine({
    ...foundation,
    leases,
    calledOffCohortsBelow,
    aloneOnStore: foundation.backend.alone,
    watch: foundation.watches.engine,
  });
  closing.add(() => engine.close());
}

export async function startGatewayRole(
  foundation: Foundation,
  health: HealthSources,
  closing: Closing,
): Promise<string> {
  const { settings, watches } = foundation;
  const gateway = await startGateway(
    {
      host: settings.host,
      port: settings.gatewayPort,
      bounces: settings.bounces,
      trustedProxies: settings.trustedProxies,
      docsFolder: DOCS_FOLDER,
    },
    { ...foundation, ...health, telemetry: watches.gateway(), httpLog: watches.httpLog },
  );
  closing.add(() => gateway.close());
  return gateway.address;
}

export type ControlFacts = {
  readonly ownerToken: string;
  /** `<gateway>/events`, as clients reach it. */
  readonly eventsUrl: string;
};

export async function startControlRole(
  foundation: Foundation,
  facts: ControlFacts,
  health: HealthSources,
  closing: Closing,
): Promise<{ readonly address: string; readonly ports: ControlPorts; readonly newLinkWord: () => Promise<string> }> {
  const { settings, backend, keys, watches, clock } = foundation;
  const ports: ControlPorts = {
    ...foundation,
    readModels: backend.readModels,
    inbox: backend.inbox,
    erasures: backend.erasures,
    erasing: erasingOf(foundation),
    auditSeals: backend.auditSeals,
    leases: backend.leases,
    sources: backend.sources,
    runs: backend.runs,
    runChild: createRunChild({
      ...placeOfRuns(settings, backend.log.logId),
      ledgerKey: keys.ledgerKey,
      erased: backend.erasedRecords,
      trouble: (where, error) => watches.control.trouble(where, error),
      watch: watches.runs(),
    }),
    deadLettersKept: () => deadLettersKept(foundation),
    unnamedRetention: backend.kind === 'embedded' ? backend.defaultRetention : null,
    // The only gateway of the embedded backend is in this process and has read what was just published.
    readEverywhere: (since) =>
      backend.alone ? Promise.resolve() : pause(Math.max(0, since + CONFIGURATION_FRESH_FOR - clock.now())),
    backup: (file) => foundation.alone(() => backupTo(file, backend)),
    diagnose: async () => [
      ...(await diagnose(backend, keys, clock, namedRetention(foundation.configuration.current()))),
      ...(await secretChecks(foundation.rotation)),
      ...reportChecks(foundation.configuration.current(), settings.bounces),
    ],
    watch: watches.control,
  };
  const control = await startControl(
    {
      version: VERSION,
      backend: backend.kind,
      host: settings.host,
      port: settings.controlPort,
      trustedProxies: settings.trustedProxies,
      portalFolder: PORTAL_FOLDER,
      docsFolder: DOCS_FOLDER,
      ...facts,
    },
    ports,
    { ...health, log: watches.httpLog },
  );
  closing.add(() => control.close());
  keepRetention(foundation, closing);
  return { address: control.address, ports, newLinkWord: () => control.newLinkWord() };
}

/** `/livez`, `/readyz` and `/metrics` of a role that has no other addresses, or only one for strangers. */
export async function startHealthServer(
  { settings, ids, watches }: Foundation,
  port: number,
  health: HealthSources,
  closing: Closing,
): Promise<string> {
  const server = createHttpServer({
    host: settings.host,
    port,
    portSetting: '--health-port or CARILLON_HEALTH_PORT',
    newRequestId: () => ids.random('request'),
    log: watches.httpLog,
    ...health,
  });
  serveDocs(server.app, DOCS_FOLDER);
  const { address } = await server.listen();
  closing.add(() => server.close(CLOSE_TIMEOUT_MS));
  return address;
}
