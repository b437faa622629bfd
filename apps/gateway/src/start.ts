import { createHttpServer, serveDocs, type ReadinessCheck } from '@carillon/runtime';
import { GATEWAY_PORT_SETTING, withDefaults, type GatewayConfig } from './config.ts';
import { serveCohortIntake } from './cohort-intake.ts';
import { serveEventIntake } from './event-intake.ts';
import { serveConsentLinks } from './consent-links.ts';
import { createCutOffNotes } from './cut-off-notes.ts';
import { createFreshSecrets } from './fresh-secrets.ts';
import { createFreshness } from './configuration-freshness.ts';
import { startKeyUses } from './key-uses.ts';
import { startBounceIntake } from './bounce-intake.ts';
import { createIntakeAdmission } from './intake-admission.ts';
import type { CutOffReason, GatewayPorts } from './ports.ts';
import { serveReceiptIntake } from './receipt-intake.ts';

export type RunningGateway = {
  /** `http://127.0.0.1:7400`; streams are below `/events/`. */
  readonly address: string;
  readonly port: number;
  /** Refuses new requests, lets those under way finish until the deadline, and frees the port. */
  close(): Promise<void>;
};

/** Starts the HTTP edge. Rejects with `port_in_use`. What is behind the ports belongs to the caller and outlives it. */
export async function startGateway(config: GatewayConfig, ports: GatewayPorts): Promise<RunningGateway> {
  const settings = withDefaults(config);
  const { telemetry, httpLog } = ports;
  const freshness = createFreshness(ports.configuration, ports.clock, settings);
  const failed = (error: unknown): void => telemetry?.trouble('keep when API keys were used', error);
  const keyUses = startKeyUses(ports.keyUses, settings.tellUsesEvery, failed);
  const noteCutOff = createCutOffNotes(ports.clock, keyUses);
  const cutOff = (why: CutOffReason): void => {
    telemetry?.cutOff(why);
    noteCutOff(why);
  };
  const server = createHttpServer({
    host: settings.host,
    port: settings.port,
    portSetting: GATEWAY_PORT_SETTING,
    newRequestId: () => ports.ids.random('request'),
    limits: { ...settings.http, maxBodyBytes: settings.maxBodyBytes },
    checks: () => [configurationCheck(freshness.isFresh()), ...(ports.checks?.() ?? [])],
    bareHealth: true,
    trustedProxies: settings.trustedProxies,
    ...(httpLog && { log: httpLog }),
    ...(telemetry && { answered: (request) => telemetry.answered(request) }),
    cut: (why) => cutOff(why),
  });
  const intakeAdmission = createIntakeAdmission(settings, cutOff);
  const secretOf = createFreshSecrets(ports.secrets, ports.clock);
  const parts = { settings, freshness, keyUses, intakeAdmission, secretOf };
  serveEventIntake(server.app, ports, parts);
  serveConsentLinks(server.app, ports, intakeAdmission);
  serveCohortIntake(server.app, ports, parts);
  serveReceiptIntake(server.app, ports, parts);
  if (settings.docsFolder !== null) serveDocs(server.app, settings.docsFolder);
  try {
    const { address, port } = await server.listen();
    const bounces = settings.bounces && (await startBounceIntake(settings.bounces, ports, settings));
    if (bounces) telemetry?.takesMail(() => bounces.check());
    return {
      address,
      port,
      async close() {
        await Promise.all([server.close(settings.closeDeadline), bounces?.close()]);
        await keyUses.close();
      },
    };
  } catch (error) {
    await server.close(0);
    await keyUses.close();
    throw error;
  }
}

const configurationCheck = (ok: boolean): ReadinessCheck => ({
  name: 'configuration',
  ok,
  detail: ok ? 'read to its end' : 'not read to its end lately: look at the log',
});
