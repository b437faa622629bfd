import { removedBody, secretBody, secretList, secretSetting, type SecretBody } from '@carillon/contracts';
import { listResources, secretsIn, type Configuration, type ResourceKind } from '@carillon/domain/configuration';
import { formatInstant } from '@carillon/kernel';
import type { SealedSecret } from '@carillon/ports';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { insteadOf } from '../../names.ts';
import type { ControlPorts } from '../../ports.ts';
import { listPaging, type ListQuery, pageOfAll } from '../../whole-lists.ts';
import { acrossWorkspaces, inWorkspace, notFound, type ApiServer } from '../app.ts';

type SecretPorts = Pick<ControlPorts, 'configuration' | 'vault' | 'secrets'>;

const DEPLOYMENT = '';
const secretName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'a name of A-Z, 0-9 and _, such as SMTP_PASSWORD')
  .describe('A-Z, 0-9 and _, such as SMTP_PASSWORD');
const named = z.object({ name: secretName });
const namedInWorkspace = inWorkspace.extend({ name: secretName });

/** Secrets of workspaces, and the deployment's own. A value goes in, and no route has one in its answer. */
export function secretRoutes(app: ApiServer, ports: SecretPorts): void {
  listSecretsRoute(app, ports);
  setSecretRoute(app, ports);
  removeSecretRoute(app, ports);
  listDeploymentSecretsRoute(app, ports);
  setDeploymentSecretRoute(app, ports);
  removeDeploymentSecretRoute(app, ports);
}

function listSecretsRoute(app: ApiServer, ports: SecretPorts): void {
  const { vault } = ports;
  app.get(
    '/v1/workspaces/:workspace/secrets',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listSecrets',
        tags: ['Secrets'],
        summary: 'Stored secrets of a workspace: names, fingerprints, who set them, what uses them; never a value',
        params: acrossWorkspaces,
        querystring: z.strictObject(listPaging),
        response: { 200: secretList },
      },
    },
    async (request) => {
      const found = await Promise.all(visibleScopeOf(request).names.map((workspace) => vault.list(workspace)));
      return secretsPage(found.flat(), request.query, ports);
    },
  );
}

function setSecretRoute(app: ApiServer, ports: SecretPorts): void {
  const { vault } = ports;
  app.put(
    '/v1/workspaces/:workspace/secrets/:name',
    {
      // A secret may be the first thing of a deployment.
      config: { permission: 'configure', audit: 'secret.set', newWorkspace: true, problems: ['not_found', 'conflict'] },
      schema: {
        operationId: 'setSecret',
        tags: ['Secrets'],
        summary: 'Stores a secret of a workspace, or another value of it; it counts with the next message',
        params: namedInWorkspace,
        body: secretSetting,
        response: { 200: secretBody },
      },
    },
    async (request) => {
      const { workspace, name } = request.params;
      await refuseUnknownWorkspace(workspace, ports);
      return one(await vault.set(workspace, name, request.body.value, principalOf(request).actor), ports);
    },
  );
}

function removeSecretRoute(app: ApiServer, ports: SecretPorts): void {
  app.delete(
    '/v1/workspaces/:workspace/secrets/:name',
    {
      config: { permission: 'configure', audit: 'secret.remove', problems: ['not_found'] },
      schema: {
        operationId: 'removeSecret',
        tags: ['Secrets'],
        summary: 'Removes a stored secret of a workspace',
        params: namedInWorkspace,
        response: { 200: removedBody },
      },
    },
    async ({ params: { workspace, name } }) => removeSecret(workspace, name, ports),
  );
}

function listDeploymentSecretsRoute(app: ApiServer, ports: SecretPorts): void {
  const { vault } = ports;
  app.get(
    '/v1/secrets',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listDeploymentSecrets',
        tags: ['Secrets'],
        summary: "The deployment's own stored secrets, which carillon.yaml names; no workspace reads them",
        querystring: z.strictObject(listPaging),
        response: { 200: secretList },
      },
    },
    async ({ query }) => secretsPage(await vault.list(DEPLOYMENT), query, ports),
  );
}

function setDeploymentSecretRoute(app: ApiServer, ports: SecretPorts): void {
  const { vault } = ports;
  app.put(
    '/v1/secrets/:name',
    {
      config: { permission: 'configure', audit: 'secret.set', problems: ['not_found', 'conflict'] },
      schema: {
        operationId: 'setDeploymentSecret',
        tags: ['Secrets'],
        summary: 'Stores a secret of the deployment, or another value of it',
        params: named,
        body: secretSetting,
        response: { 200: secretBody },
      },
    },
    async (request) =>
      one(await vault.set(DEPLOYMENT, request.params.name, request.body.value, principalOf(request).actor), ports),
  );
}

function removeDeploymentSecretRoute(app: ApiServer, ports: SecretPorts): void {
  app.delete(
    '/v1/secrets/:name',
    {
      config: { permission: 'configure', audit: 'secret.remove', problems: ['not_found'] },
      schema: {
        operationId: 'removeDeploymentSecret',
        tags: ['Secrets'],
        summary: 'Removes a stored secret of the deployment',
        params: named,
        response: { 200: removedBody },
      },
    },
    async ({ params }) => removeSecret(DEPLOYMENT, params.name, ports),
  );
}

async function secretsPage(all: readonly SealedSecret[], query: ListQuery, ports: SecretPorts) {
  const { rows, next } = pageOfAll(all, ({ workspace, name }) => `${workspace}/${name}`, query);
  return { items: await shown(rows, ports), next };
}

async function removeSecret(workspace: string, name: string, ports: SecretPorts): Promise<{ removed: true }> {
  const { vault } = ports;
  if (!(await vault.remove(workspace, name))) throw notFound(`stored secret ${name}`);
  return { removed: true };
}

/** Where there is any workspace, its name has to be one of them. */
async function refuseUnknownWorkspace(workspace: string, ports: SecretPorts): Promise<void> {
  const { configuration } = ports;
  const there = listResources(await configuration.refresh(), 'workspace').map(({ ref }) => ref.workspace);
  if (there.length === 0 || there.includes(workspace)) return;
  throw notFound(`workspace ${workspace}`, insteadOf(workspace, there));
}

const one = async (secret: SealedSecret, ports: SecretPorts): Promise<SecretBody> =>
  (await shown([secret], ports))[0] as SecretBody;

async function shown(sealed: readonly SealedSecret[], ports: SecretPorts): Promise<SecretBody[]> {
  const users = usersOf(await ports.configuration.refresh());
  return Promise.all(
    sealed.map(async ({ workspace, name, version, dataKey, fingerprint, updatedAt, updatedBy }) => ({
      workspace,
      name,
      version,
      fingerprint,
      updated_at: formatInstant(updatedAt),
      updated_by: updatedBy,
      overridden: (await ports.secrets.locate(workspace, name)) === 'environment',
      readable: dataKey !== '',
      used_by: [...(users.get(keyOf(workspace, name)) ?? [])],
    })),
  );
}

const keyOf = (workspace: string, name: string): string => JSON.stringify([workspace, name]);

/** Kinds whose bodies name secrets. */
const NAMING = ['account', 'integration', 'deployment'] as const satisfies readonly ResourceKind[];

/** Returns the resources that name a secret, by workspace and secret name. */
function usersOf(configuration: Configuration): ReadonlyMap<string, readonly { kind: string; name: string }[]> {
  const users = new Map<string, { kind: string; name: string }[]>();
  for (const kind of NAMING) {
    for (const { ref, body } of listResources<(typeof NAMING)[number]>(configuration, kind)) {
      for (const secret of new Set(secretsIn(body).map(({ name }) => name))) {
        const key = keyOf(ref.workspace, secret);
        users.set(key, [...(users.get(key) ?? []), { kind, name: ref.name }]);
      }
    }
  }
  return users;
}
