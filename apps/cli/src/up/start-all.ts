import { fileURLToPath } from 'node:url';
import { createExpressionLanguage, compileRule } from '@carillon/adapter-cel';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { createAddressGuard, createGuardedHttp } from '@carillon/adapter-guarded-http';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createTokenVerifier } from '@carillon/adapter-jwks';
import { createSandboxSenderFactory } from '@carillon/adapter-sandbox';
import { createSmtpSenderFactory } from '@carillon/adapter-smtp';
import { createApiKeys, createIds, createSealer, createSecrets, loadKeys, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import { startControl, type ControlPorts } from '@carillon/control';
import { startDelivery } from '@carillon/delivery';
import { startEngine } from '@carillon/engine';
import { startGateway } from '@carillon/gateway';
import { CarillonError, isCarillonError, messageOf, type LogId } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import { startLoop } from '@carillon/runtime';
import { createConfigurationView } from '@carillon/stages';
import { CommandError } from '../failure.ts';
import { VERSION } from '../version.ts';
import { backupTo, diagnose } from './care.ts';
import type { UpConfig } from './config.ts';
import { startDemo } from './demo.ts';
import { leaveEndpoints, ownerToken, welcomeWord } from './owner.ts';
import type { ScreenFacts } from './screen.ts';
import { createHealth } from './health.ts';
import { createWatches } from './watches.ts';

export type Running = { readonly facts: ScreenFacts; close(): Promise<void> };

/** `carillon.config` is read this often, so that the intake can show that it is fresh (2 s). */
const FOLLOW_EVERY = 500;
const RETENTION_EVERY = 3_600_000;

const PORTAL = fileURLToPath(new URL('../../../portal/public', import.meta.url));

/** Opens the data folder and starts every role over it; read from top to bottom, it is the product. */
export async function startAll(config: UpConfig, env: Readonly<Record<string, string | undefined>>): Promise<Running> {
  const clock = systemClock;
  const addresses = createAddressGuard({ allowed: config.allowedPrivateAddresses });
  const data = await openData(config.dataDir, clock);
  const opened: (() => Promise<void>)[] = [() => data.close()];
  const close = async (): Promise<void> => {
    for (const end of opened.toReversed()) await end();
  };
  try {
    const keys = loadKeys(config.dataDir, env);
    const ids = createIds(keys.ledgerKey);
    await refuseForeignKey(data.configurationStore, data.log.logId, keys.fingerprint());
    const watches = createWatches(config);
    opened.push(() => watches.close());
    const codecs = await createRecordCodecs(data.registry);
    const configuration = createConfigurationView(data.log, codecs.configuration, clock);
    await configuration.refresh();
    const follower = startLoop(
      FOLLOW_EVERY,
      async () => {
        await configuration.refresh();
      },
      (error) => watches.trouble('follow the configuration', error),
    );
    opened.push(() => follower.stop());
    const expressions = createExpressionLanguage();
    const templates = createTemplateRenderer();
    opened.push(() => templates.close());
    const outboundHttp = createGuardedHttp({ guard: addresses });
    opened.push(() => outboundHttp.close());
    const sealer = createSealer(keys.masterKey);
    const apiKeys = createApiKeys(keys.pepper);
    const common = {
      log: data.log,
      checkpoints: data.checkpoints,
      ledger: data.ledger,
      suppressions: data.suppressions,
      configuration,
      codecs,
      ids,
      clock,
      templates,
      outboundHttp,
      tokens: createTokenVerifier({ http: outboundHttp, clock, watch: watches.tokens }),
      secrets: createSecrets(data.configurationStore, sealer, env),
      senders: [createSmtpSenderFactory({ clock }), createSandboxSenderFactory({ inbox: data.inbox, clock })],
      compileRule: (placed: Parameters<typeof compileRule>[0]) => compileRule(placed, expressions),
    };

    const health = createHealth(watches, data, configuration, clock);
    const delivery = await startDelivery({ aloneOnStore: true }, { ...common, watch: watches.delivery });
    opened.push(() => delivery.close());
    const engine = await startEngine({ ...common, leases: data.leases, watch: watches.engine });
    opened.push(() => engine.close());
    const gateway = await startGateway(
      { host: config.host, port: config.gatewayPort },
      { ...common, ...health, apiKeys, telemetry: watches.gateway, httpLog: watches.httpLog },
    );
    opened.push(() => gateway.close());

    const owner = ownerToken(config.dataDir);
    const welcome = owner.fresh ? welcomeWord() : null;
    const controlPorts: ControlPorts = {
      ...common,
      readModels: data.readModels,
      inbox: data.inbox,
      configurationStore: data.configurationStore,
      sealer,
      apiKeys,
      expressions,
      backup: (file) => backupTo(file, data),
      diagnose: () => diagnose(config, data, keys.fingerprint(), clock),
      watch: watches.control,
    };
    const control = await startControl(
      {
        version: VERSION,
        backend: 'embedded',
        host: config.host,
        port: config.controlPort,
        eventsUrl: `${gateway.address}/events`,
        ownerToken: owner.token,
        welcome,
        portalFolder: PORTAL,
      },
      controlPorts,
      { ...health, log: watches.httpLog },
    );
    opened.push(() => control.close());
    const keeper = startLoop(
      RETENTION_EVERY,
      async () => {
        await data.applyRetention(clock.now());
      },
      (error) => watches.trouble('apply retention', error),
    );
    opened.push(() => keeper.stop());

    const empty = configuration.current().number < 0;
    const demo = config.demo && empty ? await startDemo(config.demoDir, controlPorts) : null;
    leaveEndpoints(config.dataDir, { control: control.address, gateway: gateway.address });
    const { recovered } = delivery;
    const facts: ScreenFacts = {
      dataDir: config.dataDir,
      control: control.address,
      gateway: gateway.address,
      welcome,
      demo,
      recovered,
    };
    return { facts, close };
  } catch (error) {
    await close().catch((late: unknown) => process.emitWarning(String(late)));
    throw error;
  }
}

/** What the file system refuses is said with the folder and the setting that names another one. */
async function openData(dataDir: string, clock: Clock): Promise<Embedded> {
  try {
    return await openEmbedded({ dataDir, clock, holder: 'carillon up' });
  } catch (error) {
    if (isCarillonError(error)) throw error;
    throw new CommandError(
      `cannot use the data folder ${dataDir} (--data-dir, CARILLON_DATA_DIR): ${messageOf(error)}`,
    );
  }
}

/** Slot ids are made with the ledger key: with another one everybody would be told again. */
async function refuseForeignKey(
  store: ControlPorts['configurationStore'],
  logId: LogId,
  keyFingerprint: string,
): Promise<void> {
  const stored = await store.identity({ logId, keyFingerprint });
  if (stored.keyFingerprint !== keyFingerprint) {
    throw new CarillonError(
      'wrong_key',
      'keys/ledger.key is not the key that this data was written with; restore it from the backup of this folder',
    );
  }
  if (stored.logId !== logId) {
    throw new CarillonError('wrong_log', `the store belongs to log ${stored.logId}, this is ${logId}`);
  }
}
