import {
  apiKeyBody,
  appliedBody,
  configurationFiles,
  newApiKeyBody,
  planBody,
  writeConfigurationFolder,
} from '@carillon/contracts';
import { findResource, listResources, type ResourceChange } from '@carillon/domain';
import { CarillonError, formatInstant, parseInstant } from '@carillon/kernel';
import { publishConfiguration } from '@carillon/stages';
import { z } from 'zod';
import { showApiKey } from '../bodies.ts';
import { applyFolder, planFolder, publishPorts } from '../configuration.ts';
import type { ControlContext } from '../ports.ts';
import { inWorkspace, notFound, withName, type ApiServer } from './app.ts';

const AUTHOR = 'owner';
const folder = z.strictObject({ files: configurationFiles, prune: z.boolean().default(false) });
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function configurationRoutes(app: ApiServer, { ports }: ControlContext): void {
  const bodyLimit = 16 * 1024 * 1024;
  app.post(
    '/v1/configuration/plan',
    { bodyLimit, schema: { body: folder, response: { 200: planBody } } },
    async ({ body }) => {
      const planned = await planFolder(body, ports);
      return planned.body;
    },
  );

  app.post(
    '/v1/configuration/apply',
    { bodyLimit, schema: { body: folder, response: { 200: appliedBody } } },
    async ({ body }) => applyFolder(body, AUTHOR, ports),
  );

  const exported = z.object({ number: z.int(), files: configurationFiles });
  app.get('/v1/configuration/export', { schema: { response: { 200: exported } } }, async () => {
    const configuration = await ports.configuration.refresh();
    return { number: configuration.number, files: Object.fromEntries(writeConfigurationFolder(configuration)) };
  });
}

export function apiKeyRoutes(app: ApiServer, { ports }: ControlContext): void {
  app.get(
    '/v1/workspaces/:workspace/api-keys',
    { schema: { params: inWorkspace, response: { 200: z.object({ items: z.array(apiKeyBody) }) } } },
    async ({ params }) => {
      const configuration = await ports.configuration.refresh();
      const items = listResources(configuration, 'api_key', params.workspace).map((key) =>
        showApiKey(key, configuration),
      );
      return { items };
    },
  );

  const request = z.strictObject({
    name: z.string().regex(NAME, 'a-z, 0-9 and -'),
    expires_at: z.string().max(40).optional(),
  });
  app.post(
    '/v1/workspaces/:workspace/api-keys',
    { schema: { params: inWorkspace, body: request, response: { 201: newApiKeyBody } } },
    async ({ params, body }, reply) => {
      const key = await createApiKey(params.workspace, body, ports);
      return reply.code(201).header('cache-control', 'no-store').send({ name: body.name, key });
    },
  );

  app.delete(
    '/v1/workspaces/:workspace/api-keys/:name',
    { schema: { params: withName, response: { 200: z.object({ revoked: z.boolean() }) } } },
    async ({ params }) => {
      const configuration = await ports.configuration.refresh();
      const key = findResource(configuration, 'api_key', params.workspace, params.name);
      if (!key) throw notFound(`API key ${params.name} in workspace ${params.workspace}`);
      await publishConfiguration(publishPorts(ports), [{ ref: key.ref, based_on: key.number, body: null }], AUTHOR);
      return { revoked: true };
    },
  );
}

/** Makes a key of a workspace, and the workspace with it where this is its first thing. Answers the whole key, once. */
export async function createApiKey(
  workspace: string,
  wanted: { readonly name: string; readonly expires_at?: string | undefined },
  ports: ControlContext['ports'],
): Promise<string> {
  if (!NAME.test(workspace)) throw new CarillonError('invalid_request', 'workspace: a name of a-z, 0-9 and -');
  const expires = wanted.expires_at === undefined ? undefined : parseInstant(wanted.expires_at);
  if (wanted.expires_at !== undefined && expires === undefined) {
    throw new CarillonError('invalid_request', 'expires_at: expected an RFC 3339 time such as 2027-01-31T00:00:00Z');
  }
  const configuration = await ports.configuration.refresh();
  const known = findResource(configuration, 'api_key', workspace, wanted.name);
  if (known) {
    throw new CarillonError(
      'conflict',
      `API key ${wanted.name} is there already; revoke it first, or give another name`,
    );
  }
  const made = ports.apiKeys.make();
  const changes: ResourceChange[] = [
    {
      ref: { kind: 'api_key', workspace, name: wanted.name },
      based_on: null,
      body: {
        key_id: made.keyId,
        digest: made.digest,
        created_at: formatInstant(ports.clock.now()),
        ...(expires !== undefined && { expires_at: formatInstant(expires) }),
      },
    },
  ];
  if (!findResource(configuration, 'workspace', workspace, '')) {
    const ref = { kind: 'workspace', workspace, name: '' } as const;
    changes.push({ ref, based_on: null, body: {} });
  }
  await publishConfiguration(publishPorts(ports), changes, AUTHOR);
  return made.key;
}
