import { apiKeyList, newApiKeyBody, revokedBody } from '@carillon/contracts';
import { type ChangeOrigin, findResource, listResources, type ResourceChange } from '@carillon/domain/configuration';
import { CarillonError, formatInstant, parseDuration, parseInstant, type Instant } from '@carillon/kernel';
import { z } from 'zod';
import { showApiKey } from '../../bodies.ts';
import { changedBy } from '../../access/changed-by.ts';
import { publishChanges } from '../../resources/publish-changes.ts';
import { insteadOf } from '../../names.ts';
import type { ControlPorts, PublishingPorts } from '../../ports.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { listPaging, pageOfAll } from '../../whole-lists.ts';
import { acrossWorkspaces, inWorkspace, notFound, withName, type ApiServer } from '../app.ts';

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

type KeyMakingPorts = PublishingPorts & Pick<ControlPorts, 'apiKeys'>;

export function apiKeyRoutes(app: ApiServer, ports: KeyMakingPorts & Pick<ControlPorts, 'keyUses'>): void {
  app.get(
    '/v1/workspaces/:workspace/api-keys',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listApiKeys',
        tags: ['API keys'],
        summary: 'API keys; never the secret part',
        params: acrossWorkspaces,
        querystring: z.strictObject(listPaging),
        response: { 200: apiKeyList },
      },
    },
    async (request) => {
      const configuration = await ports.configuration.refresh();
      const all = visibleScopeOf(request).names.flatMap((workspace) =>
        listResources(configuration, 'api_key', workspace),
      );
      const { rows, next } = pageOfAll(all, ({ ref }) => `${ref.workspace}/${ref.name}`, request.query);
      const lastUses = await ports.keyUses.lastUses(rows.map(({ body }) => body.key_id));
      return {
        items: rows.map((key) =>
          showApiKey(key, configuration, lastUses.get(key.body.key_id) ?? null, ports.clock.now()),
        ),
        next,
      };
    },
  );

  const wanted = z.strictObject({
    name: z.string().regex(NAME, 'a-z, 0-9 and -'),
    new_workspace: z
      .boolean()
      .optional()
      .describe('Makes the workspace too; without it, one that is not there is refused'),
    expires_at: z.string().max(40).optional().describe('RFC 3339 time after which it is refused'),
    expires_in: z.string().max(40).optional().describe('The same as a duration from now, such as 90d'),
  });
  app.post(
    '/v1/workspaces/:workspace/api-keys',
    {
      config: {
        permission: 'configure',
        audit: 'api_key.create',
        newWorkspace: true,
        problems: ['not_found', 'conflict'],
      },
      schema: {
        operationId: 'createApiKey',
        tags: ['API keys'],
        summary: 'Makes an API key; the answer is the only one that holds it whole',
        params: inWorkspace,
        body: wanted,
        response: { 201: newApiKeyBody },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      const { key, expires_at } = await createApiKey(params.workspace, body, changedBy(request), ports);
      return reply.code(201).header('cache-control', 'no-store').send({ name: body.name, key, expires_at });
    },
  );

  app.delete(
    '/v1/workspaces/:workspace/api-keys/:name',
    {
      config: { permission: 'configure', audit: 'api_key.revoke', problems: ['not_found', 'conflict'] },
      schema: {
        operationId: 'revokeApiKey',
        tags: ['API keys'],
        summary: 'Revokes an API key at once',
        params: withName,
        response: { 200: revokedBody },
      },
    },
    async (request) => {
      const { params } = request;
      const configuration = await ports.configuration.refresh();
      const key = findResource(configuration, 'api_key', params.workspace, params.name);
      if (!key) throw notFound(`API key ${params.name} in workspace ${params.workspace}`);
      const change: ResourceChange = { ref: key.ref, based_on: key.number, body: null };
      await publishChanges([change], changedBy(request), ports);
      return { revoked: true };
    },
  );
}

type WantedKey = {
  readonly name: string;
  readonly expires_at?: string | undefined;
  readonly expires_in?: string | undefined;
  readonly new_workspace?: boolean | undefined;
};

/** Creates an API key, and its workspace if requested or if there is none. Returns the whole key, once. */
export async function createApiKey(
  workspace: string,
  wanted: WantedKey,
  by: ChangeOrigin,
  ports: KeyMakingPorts,
): Promise<{ readonly key: string; readonly expires_at: string | null }> {
  if (!NAME.test(workspace)) throw new CarillonError('invalid_request', 'workspace: expected a name of a-z, 0-9 and -');
  const now = ports.clock.now();
  const expires = expiryOf(wanted, now);
  const configuration = await ports.configuration.refresh();
  const known = findResource(configuration, 'api_key', workspace, wanted.name);
  if (known) {
    throw new CarillonError(
      'conflict',
      `API key ${wanted.name} exists already: revoke it first, or choose another name`,
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
        created_at: formatInstant(now),
        ...(expires !== null && { expires_at: formatInstant(expires) }),
      },
    },
  ];
  if (!findResource(configuration, 'workspace', workspace, '')) {
    const there = listResources(configuration, 'workspace').map(({ ref }) => ref.workspace);
    if (there.length > 0 && wanted.new_workspace !== true) {
      const hint = `${insteadOf(workspace, there).replace(/[^?]$/, '$&.')} A new one is made with --new-workspace (new_workspace: true)`;
      throw new CarillonError('not_found', `there is no workspace ${workspace}; ${hint}`);
    }
    const ref = { kind: 'workspace', workspace, name: '' } as const;
    changes.push({ ref, based_on: null, body: {} });
  }
  await publishChanges(changes, by, ports);
  return { key: made.key, expires_at: expires === null ? null : formatInstant(expires) };
}

/** When the key ends; null: never. One that has ended already would only look like a mistake of the sender. */
function expiryOf({ expires_at: at, expires_in: span }: WantedKey, now: Instant): Instant | null {
  const refuse = (detail: string): never => {
    throw new CarillonError('invalid_request', detail);
  };
  if (at !== undefined && span !== undefined) refuse('expires_in: give expires_at or expires_in, not both');
  if (span !== undefined) {
    const read = parseDuration(span);
    return read.ok ? now + read.value : refuse(`expires_in: ${read.error}`);
  }
  if (at === undefined) return null;
  const expires = parseInstant(at);
  if (expires === undefined) {
    return refuse(
      'expires_at: expected an RFC 3339 time such as 2027-01-31T00:00:00Z; a duration such as 90d is expires_in',
    );
  }
  return expires > now ? expires : refuse('expires_at: that time has passed');
}
