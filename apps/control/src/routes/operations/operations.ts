import { backupBody, checkBody, statusBody } from '@carillon/contracts';
import { CHANNEL_NAMES } from '@carillon/domain/channels';
import {
  findResource,
  hasExpired,
  jwtSettings,
  listResources,
  type Configuration,
  type Resource,
  type ResourceRef,
} from '@carillon/domain/configuration';
import {
  accountCalled,
  allDeploymentAccounts,
  sandboxOf,
  sendingSecrets,
  type AccountChoice,
} from '@carillon/domain/deliveries';
import { CarillonError, messageOf } from '@carillon/kernel';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { CHECKS } from '../../access/permission.ts';
import { providerChecks } from '../../access/providers/identity-client.ts';
import { configurationTried } from '../../drafts/with-drafts.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { checkStep, checkSteps } from '../../checks.ts';
import { deliveryChecks, type DeliveryCheckPorts } from '../../delivery-checks.ts';
import { linkChecks } from '../../link-checks.ts';
import { insteadOf, namesOf, placeOf } from '../../names.ts';
import type { Check, ControlConfig, ControlPorts, PlanningPorts } from '../../ports.ts';
import { hiddenSecretChecks, missingSecret } from '../../secret-places.ts';
import { noBody, notFound, withNameAcross, type ApiServer } from '../app.ts';

type ConfigurationCheckPorts = Pick<ControlPorts, 'configuration' | 'clock' | 'tokens' | 'secrets'>;
type AccountCheckPorts = Pick<ControlPorts, 'secrets' | 'senders' | 'watch'>;

const accountCheck = z
  .strictObject({
    drafts: z
      .boolean()
      .default(false)
      .describe('The account as it is with the drafts of the workspace, which may be new'),
  })
  .nullish();

export function operationRoutes(
  app: ApiServer,
  config: Pick<ControlConfig, 'version' | 'backend' | 'eventsUrl'>,
  ports: ConfigurationCheckPorts &
    AccountCheckPorts &
    DeliveryCheckPorts &
    PlanningPorts &
    Pick<ControlPorts, 'diagnose' | 'backup' | 'drafts' | 'identityProviders'>,
): void {
  app.get(
    '/v1/status',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'readStatus',
        tags: ['Deployment'],
        summary: 'Version, workspaces and counts of deliveries by state',
        response: { 200: statusBody },
      },
    },
    async (request) => {
      const configuration = ports.configuration.current();
      const sight = visibleScopeOf(request);
      return {
        version: config.version,
        backend: config.backend,
        config_number: configuration.number,
        workspaces: [...sight.names],
        events_url: config.eventsUrl,
        // The counts cover all workspaces.
        deliveries: sight.sees(null) ? { ...(await ports.ledger.countByState()) } : {},
      };
    },
  );

  // Must work during outages, so no step waits for a dependency it does not need.
  app.post(
    '/v1/doctor',
    {
      config: { permission: CHECKS, audit: false },
      schema: {
        operationId: 'runDoctor',
        tags: ['Deployment'],
        summary: 'Checks configuration, stores, indexes, providers and clock',
        body: noBody,
        response: { 200: checkBody },
      },
    },
    async () => ({
      steps: (
        await Promise.all([configurationChecks(ports), providerChecks(ports), ports.diagnose(), deliveryChecks(ports)])
      ).flat(),
    }),
  );

  const target = z.strictObject({ file: z.string().min(1).max(4096) });
  app.post(
    '/v1/backup',
    {
      config: { permission: 'people', audit: 'backup.write', problems: ['wrong_state'] },
      schema: {
        operationId: 'writeBackup',
        tags: ['Deployment'],
        summary: 'Writes a consistent copy of data and keys to a file of the server',
        body: target,
        response: { 200: backupBody },
      },
    },
    async ({ body }) => {
      if (!isAbsolute(body.file))
        throw new CarillonError('invalid_request', 'file: name an absolute path on the server');
      const { bytes } = await ports.backup(body.file);
      return { file: body.file, bytes };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/accounts/:name/check',
    {
      config: { permission: CHECKS, audit: false, across: true, problems: ['not_found', 'invalid_configuration'] },
      schema: {
        operationId: 'checkAccount',
        tags: ['Accounts'],
        summary: 'Connects and signs in to a provider account, without sending',
        params: withNameAcross,
        body: accountCheck,
        response: { 200: checkBody },
      },
    },
    async (request) => {
      const { name } = request.params;
      const sight = visibleScopeOf(request);
      const drafts = request.body?.drafts ?? false;
      const configuration = await configurationTried({ kind: 'account', name }, drafts, sight, ports);
      const choice = accountInSight(configuration, name, sight);
      return { steps: await checkAccount(choice, ports) };
    },
  );
}

/** Returns checks for requirements of the newest configuration that are not met. */
async function configurationChecks(ports: ConfigurationCheckPorts): Promise<Check[]> {
  const read = await checkStep('configuration', async () => {
    const { number } = await ports.configuration.refresh().catch((error: unknown) => {
      if (ports.configuration.stoppedBefore() === null) throw error;
      return ports.configuration.current();
    });
    const stopped = ports.configuration.stoppedBefore();
    if (stopped !== null) throw new Error(`number ${number}, ${stopped}`);
    if (number < 0) throw new CarillonError('not_found', 'nothing was applied yet');
    return `number ${number}, read to its end`;
  });
  // If the log is unavailable, the newest configuration that was read is checked.
  const configuration = ports.configuration.current();
  const steps: Check[] = [read];
  for (const kind of ['notification', 'stream'] as const) {
    for (const { ref, body } of listResources<'notification' | 'stream'>(configuration, kind)) {
      for (const name of body.security?.api_keys ?? []) {
        const detail = keyTrouble(findResource(configuration, 'api_key', ref.workspace, name), name, ref, ports);
        if (detail !== null) steps.push({ step: `${kind} ${ref.name}`, ok: false, detail });
      }
    }
  }
  steps.push(...linkChecks(configuration));
  const providers = listResources(configuration, 'jwt_provider');
  const hidden = checkSteps('secrets', () => hiddenSecretChecks(configuration, ports.secrets));
  return [...steps, ...(await hidden), ...(await Promise.all(providers.map((one) => keySetCheck(one, ports))))];
}

/** Returns why no client can send with a named key. Null if one can. */
function keyTrouble(
  key: Resource<'api_key'> | undefined,
  name: string,
  { workspace }: ResourceRef,
  { clock }: ConfigurationCheckPorts,
): string | null {
  if (!key) return `there is no API key ${name}: npx carillon api-key create ${name} --workspace ${workspace}`;
  if (!hasExpired(key.body, clock.now())) return null;
  return `API key ${name} expired at ${key.body.expires_at}: create another one and name it here`;
}

function keySetCheck(
  { ref, body, number }: Resource<'jwt_provider'>,
  { tokens }: ConfigurationCheckPorts,
): Promise<Check> {
  const { workspace, name } = ref;
  return checkStep(`JWT provider ${name}`, async () => {
    const { steps } = await tokens.inspect({ workspace, name, number, settings: jwtSettings(body) }, null);
    const failed = steps.find(({ ok }) => !ok);
    if (failed) throw new Error(failed.detail);
    return steps[0]?.detail ?? '';
  });
}

/** Returns the key of a deployment's account for display: `default` if the sandbox is used instead. */
const calledDefault = ({ key }: AccountChoice): string => key.replace(/^sandbox/, 'default');
const WHERE_WRITTEN = `accounts that begin with default are in carillon.yaml: accounts.${CHANNEL_NAMES.join(', accounts.')}`;

/**
 * The account that is called `main`, `shop/main` or `default:sms:main`. Throws `not_found` with what there is, and `invalid_request`
 * where several workspaces have one of that name.
 */
function accountInSight(configuration: Configuration, called: string, sight: VisibleScope): AccountChoice {
  const [owner, name] = called.includes('/') ? called.split('/', 2) : [undefined, called];
  const named = namesOf(configuration, 'account');
  const names = (one: string): readonly string[] => (owner === undefined || owner === one ? named(one) : []);
  const isOwn = sight.names.some((workspace) => names(workspace).includes(name ?? ''));
  const deployments = owner === undefined ? allDeploymentAccounts(configuration) : [];
  // `default` is the deployment's, whatever a workspace calls its own.
  const ofDeployment = deployments.find((one) => calledDefault(one) === name || (!isOwn && one.key === name));
  if (ofDeployment) return ofDeployment;
  if (!isOwn) {
    const known = [...sight.names.flatMap(named), ...allDeploymentAccounts(configuration).map(calledDefault)];
    const words = `there is no account ${called}; ${insteadOf(called, known)}`;
    throw new CarillonError('not_found', called.startsWith('default') ? `${words}; ${WHERE_WRITTEN}` : words);
  }
  const workspace = placeOf('account', name ?? '', sight, names);
  const choice = accountCalled(configuration, workspace, `${workspace}/${name}`);
  if (!choice) throw notFound(`account ${called}`);
  return choice;
}

/** Describes an account. For the sandbox that replaces a missing account, names the key to configure. */
function kindOf({ key, body }: AccountChoice): string {
  const channel = CHANNEL_NAMES.find((name) => sandboxOf(name).key === key);
  if (channel === undefined) return `kind ${body.kind}`;
  return `kind sandbox, which keeps messages in the inbox: carillon.yaml has no account for ${channel} (accounts.${channel})`;
}

async function checkAccount(choice: AccountChoice, ports: AccountCheckPorts): Promise<Check[]> {
  const { body, workspace: owner } = choice;
  const factory = ports.senders.find((one) => one.kind === body.kind);
  if (!factory) throw new CarillonError('not_found', `no adapter for accounts of kind ${body.kind}`);
  const secrets: Record<string, string> = {};
  const steps: Check[] = [{ step: 'account', ok: true, detail: kindOf(choice) }];
  for (const secret of sendingSecrets(body)) {
    const value = await ports.secrets.resolve(owner, secret);
    if (value === null) {
      return [...steps, { step: 'secret', ok: false, detail: await missingSecret(owner, secret, ports.secrets) }];
    }
    secrets[secret] = value;
  }
  const sender = factory.create(body, secrets, owner);
  try {
    return [...steps, ...(await sender.check())];
  } finally {
    await sender.close().catch((error: unknown) => ports.watch.trouble('close a checked account', messageOf(error)));
  }
}
