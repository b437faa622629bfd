import { createBounceMail } from '@carillon/adapter-bounces';
import { createCohortReaders, createPostHog } from '@carillon/adapter-cohorts';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { compileRule } from '@carillon/domain/rules';
import { createAddressGuard, createGuardedHttp } from '@carillon/adapter-guarded-http';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createMjmlCompiler } from '@carillon/adapter-mjml';
import { createTokenVerifier } from '@carillon/adapter-jwks';
import { createIdentityProviders } from '@carillon/adapter-openid';
import { createPartnerLookup } from '@carillon/adapter-partner-http';
import { createReceiptReaders, createSenderFactories } from '@carillon/adapter-providers';
import {
  createApiKeys,
  createIds,
  createLinkTokens,
  createSealing,
  createSecrets,
  createEventLoopSlice,
  systemClock,
  createTextSealer,
} from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import type { CarillonError } from '@carillon/kernel';
import type { AvroSchemaSource, ChangeSources, OutboundHttp, TopicSources } from '@carillon/ports';
import { startLoop } from '@carillon/runtime';
import { createConfigurationView, type FollowedConfiguration } from '@carillon/stages';
import { withErasedAddresses, withHashedPeople } from '@carillon/stores';
import { refuseMoved } from '../move/moved-mark.ts';
import type { Backend, BackendOptions } from './backend.ts';
import { refuseShorterLog } from './log-positions.ts';
import { openKeys } from './deployment-keys.ts';
import { loadOnce } from './load-once.ts';
import { openBackend } from './open-backend.ts';
import { refuseOpenPlaces } from './private-places.ts';
import type { Environment, ProcessSettings } from './settings.ts';
import { createWatches, type Watches } from './telemetry-bindings.ts';
import { deploymentSecrets } from './workspace-secrets.ts';

/** `carillon.config` is read this often, so that the intake can show that it is fresh (2 s). */
const FOLLOW_INTERVAL_MS = 500;

/** Ends what was opened, the last first. */
export type Closing = { add(end: () => Promise<void>): void; close(): Promise<void> };

export function createClosing(): Closing {
  const opened: (() => Promise<void>)[] = [];
  return {
    add: (end) => void opened.push(end),
    async close() {
      for (const end of opened.splice(0).toReversed()) await end();
    },
  };
}

/** Lets one piece of work in at a time, in the order in which they came. */
function createTurnstile(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work, work);
    last = done.catch(() => undefined);
    return done;
  };
}

async function loadAvroSchemas(http: OutboundHttp): Promise<AvroSchemaSource> {
  const { createTenantSchemas } = await import('@carillon/adapter-schema-registry');
  return createTenantSchemas(http);
}

/** Opens the common base of all roles in a process: backend, keys, the newest configuration and derived services. */
export async function openFoundation(
  settings: ProcessSettings,
  env: Environment,
  {
    name,
    closing,
    fatal,
  }: { readonly name: string; readonly closing: Closing; readonly fatal: (error: CarillonError) => void },
) {
  const clock = systemClock;
  const guard = createAddressGuard({ allowed: settings.allowedPrivateAddresses });
  const watches = createWatches(settings, name === 'carillon up' ? 'carillon' : name.replace(' ', '-'));
  closing.add(() => watches.close());
  const slice = createEventLoopSlice();
  const backend = await openOwnBackend(settings, watches, closing, { clock, slice, holder: name, fatal });
  const keys = await openKeys(settings, env, backend);
  // A single data file cannot lose its log and keep its positions.
  if (!backend.alone) await refuseShorterLog(backend);
  const codecs = await createRecordCodecs(backend.registry, () => clock.now());
  const configuration = createConfigurationView(backend.log, codecs.configuration, clock, watches.passedOver);
  await followConfiguration(configuration, watches, closing);
  const expressions = createExpressionLanguage();
  const { templates, mjml } = createRenderers(watches, closing);
  const outboundHttp = createGuardedHttp({ guard });
  closing.add(() => outboundHttp.close());
  const partners = createPartnerLookup({ http: outboundHttp, clock });
  const senders = createSenderFactories({ clock, guard, inbox: backend.inbox });
  const alone = createTurnstile();
  const ids = createIds(keys.ledgerKey);
  const sealing = createSealing({
    store: backend.secretStore,
    masterKeys: keys.masterKeys,
    ledgerKey: keys.ledgerKey,
    ids,
    clock,
    alone,
  });
  return {
    settings,
    backend,
    keys,
    watches,
    expressions,
    /** Backups, and exchanges of the master key's file: one after the other. */
    alone,
    vault: sealing.vault,
    rotation: sealing.rotation,
    apiKeys: createApiKeys(keys.pepper),
    log: backend.log,
    checkpoints: backend.checkpoints,
    ruleStates: backend.ruleStates,
    ledger: backend.ledger,
    suppressions: withErasedAddresses(backend.suppressions, ids),
    consents: withHashedPeople(backend.consents, ids),
    drafts: backend.drafts,
    jobs: backend.jobs,
    idempotency: backend.idempotency,
    ...sealersOf(keys.pepper),
    limits: backend.limits,
    digestHeads: backend.digestHeads,
    links: createLinkTokens(keys.ledgerKey),
    keyUses: backend.keyUses,
    people: backend.people,
    identityProviders: createIdentityProviders({ http: outboundHttp, clock }),
    configuration,
    codecs,
    ids,
    clock,
    slice,
    templates,
    mjml,
    outboundHttp,
    partners,
    receipts: createReceiptReaders({ http: outboundHttp, clock, leases: backend.leases }),
    bounceMail: createBounceMail(),
    cohortReaders: createCohortReaders(),
    cohortPages: createPostHog(outboundHttp),
    cohorts: backend.cohorts,
    sources: backend.sources,
    /** Loaded when a database is first checked or read, because most deployments read none. */
    changeSources: loadOnce(async (): Promise<ChangeSources> => {
      const { createPostgresSources } = await import('@carillon/adapter-postgres');
      return createPostgresSources({ guard });
    }),
    /** Loaded likewise. */
    topicSources: loadOnce(async (): Promise<TopicSources> => {
      const { createTopicSources } = await import('@carillon/adapter-kafka');
      return createTopicSources({ guard });
    }),
    avroSchemas: loadOnce(() => loadAvroSchemas(outboundHttp)),
    tasks: backend.tasks,
    claims: backend.claims,
    tokens: createTokenVerifier({ http: outboundHttp, clock, watch: watches.tokens }),
    secrets: createSecrets(backend.secretStore, sealing.values, env, {
      listed: settings.workspaceSecrets,
      own: deploymentSecrets(settings.ownSecrets, () => configuration.current()),
    }),
    senders,
    compileRule: (placed: Parameters<typeof compileRule>[0]) => compileRule(placed, expressions),
  };
}

/** Opens the backend, unless the data folder was moved away or others may read it. */
async function openOwnBackend(
  settings: ProcessSettings,
  watches: Watches,
  closing: Closing,
  options: Pick<BackendOptions, 'clock' | 'slice' | 'holder' | 'fatal'>,
): Promise<Backend> {
  if (!settings.cluster) refuseMoved(settings.dataDir);
  refuseOpenPlaces(settings.dataDir);
  const backend = await openBackend({
    ...options,
    settings,
    // Logged before the migration, because it may take minutes without further output.
    migrating: (from, to) =>
      watches.logger.warn(
        { detail: `from version ${from} to ${to}` },
        'the data is brought forward, which may take minutes',
      ),
    kafkaSaid: watches.kafkaSaid,
  });
  closing.add(() => backend.close());
  return backend;
}

/** Reads the configuration to its end, and keeps reading it until the process closes. */
async function followConfiguration(
  configuration: Pick<FollowedConfiguration, 'refresh'>,
  watches: Watches,
  closing: Closing,
): Promise<void> {
  await configuration.refresh();
  const follower = startLoop(
    FOLLOW_INTERVAL_MS,
    async () => {
      await configuration.refresh();
    },
    (error) => watches.trouble('follow the configuration', error),
  );
  closing.add(() => follower.stop());
}

function createRenderers(watches: Watches, closing: Closing) {
  const templates = createTemplateRenderer();
  closing.add(() => templates.close());
  const mjml = createMjmlCompiler({ onStopped: (message) => watches.trouble('compile MJML', new Error(message)) });
  closing.add(() => mjml.close());
  return { templates, mjml };
}

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** A text that was sealed by one of these is opened by no other. */
const sealersOf = (pepper: Uint8Array) => ({
  answerSealer: createTextSealer(pepper, 'answers'),
  factorSealer: createTextSealer(pepper, 'totp'),
  signInSealer: createTextSealer(pepper, 'sign-in'),
  undoSealer: createTextSealer(pepper, 'undo'),
  runSealer: createTextSealer(pepper, 'run'),
});
