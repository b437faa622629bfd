import { checkBody } from '@carillon/contracts';
import {
  findResource,
  jwtSettings,
  streamTable,
  type Configuration,
  type EventStream,
  type JwtProviderBody,
} from '@carillon/domain/configuration';
import { unmetBinding } from '@carillon/domain/events';
import { CarillonError, stringifyJson, type JsonObject } from '@carillon/kernel';
import { z } from 'zod';
import { CHECKS } from '../../access/permission.ts';
import type { Check, ControlPorts } from '../../ports.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { namesOf, placeOf } from '../../names.ts';
import { KINDS_OF_RESOURCES } from '../../resources/kinds.ts';
import { planResources } from '../../resources/plan-resources.ts';
import { schemasOf } from '../../resources/schemas.ts';
import { notFound, withNameAcross, type ApiServer } from '../app.ts';
import { withText } from './jwt-check-text.ts';

/** Far above the limit of a request, so that an overlong token gets the step-by-step explanation. */
const LONGEST_TOKEN = 100_000;

type ProviderPorts = Parameters<typeof planResources>[1] & Pick<ControlPorts, 'configuration' | 'tokens'>;

const KIND = KINDS_OF_RESOURCES.find(({ kind }) => kind === 'jwt_provider');
if (!KIND) throw new Error('JWT providers are a kind of resource');
const { body: settingsBody } = schemasOf(KIND);

export function jwtProviderRoutes(app: ApiServer, ports: ProviderPorts): void {
  const tried = z.strictObject({
    token: z.string().max(LONGEST_TOKEN).optional().describe('A token to test. It is never stored or returned'),
    settings: settingsBody
      .optional()
      .describe(
        'Tries these settings instead of those that are published, so also of a provider that is not there yet',
      ),
  });
  app.post(
    '/v1/workspaces/:workspace/jwt-providers/:name/check',
    {
      config: { permission: CHECKS, audit: false, across: true, problems: ['not_found'] },
      schema: {
        operationId: 'checkJwtProvider',
        tags: ['JWT providers'],
        summary: 'Fetches the keys of a provider and tries a token, step by step',
        params: withNameAcross,
        body: tried.nullish(),
        response: { 200: checkBody },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      const token = body?.token ?? null;
      if (body?.settings !== undefined) {
        const workspace = oneWorkspace(visibleScopeOf(request));
        const steps = await checkSettings({ workspace, name: params.name, settings: body.settings }, token, ports);
        return reply.header('cache-control', 'no-store').send({ steps: steps.map(withText) });
      }
      const names = namesOf(await ports.configuration.refresh(), 'jwt_provider');
      const workspace = placeOf('JWT provider', params.name, visibleScopeOf(request), names);
      const steps = await checkPublished(workspace, params.name, token, ports);
      return reply.header('cache-control', 'no-store').send({ steps: steps.map(withText) });
    },
  );
}

/** Throws `invalid_request` for all workspaces, because unpublished settings belong to none. */
function oneWorkspace({ workspace }: VisibleScope): string {
  if (workspace !== undefined) return workspace;
  throw new CarillonError(
    'invalid_request',
    'settings: name the workspace in the path, because these settings belong to none yet',
    {
      pointer: '/settings',
    },
  );
}

type Wanted = { readonly workspace: string; readonly name: string; readonly settings: unknown };

/**
 * Plans the unpublished settings of a JWT provider. If the plan finds a mistake, nothing is fetched from the provider.
 */
async function checkSettings(
  { workspace, name, settings }: Wanted,
  token: string | null,
  ports: ProviderPorts,
): Promise<Check[]> {
  const ref = { kind: 'jwt_provider', workspace, name } as const;
  const { current, faults } = await planResources({ put: [{ ref, body: settings }], remove: [] }, ports);
  if (faults.length > 0) {
    return faults.map(({ path, message, fix }) => {
      const place = path === '' ? 'settings' : path;
      return { step: 'settings', ok: false, detail: `${place}: ${message}; ${fix}` };
    });
  }
  return checkBodyOf({ workspace, name, number: current.number, body: settings as JwtProviderBody }, token, ports);
}

async function checkPublished(
  workspace: string,
  name: string,
  token: string | null,
  ports: ProviderPorts,
): Promise<Check[]> {
  const configuration = await ports.configuration.refresh();
  const found = findResource(configuration, 'jwt_provider', workspace, name);
  if (!found) throw notFound(`JWT provider ${name} in workspace ${workspace}`);
  return checkBodyOf({ workspace, name, number: found.number, body: found.body }, token, ports);
}

type Provider = {
  readonly workspace: string;
  readonly name: string;
  readonly number: number;
  readonly body: JwtProviderBody;
};

/** Fetches the keys and tries a token, and says of each stream whether it would take it. */
async function checkBodyOf(
  { workspace, name, number, body }: Provider,
  token: string | null,
  ports: ProviderPorts,
): Promise<Check[]> {
  const settings = jwtSettings(body);
  const { steps, claims } = await ports.tokens.inspect({ workspace, name, number, settings }, token);
  const { issuer, audiences, jwksUrl } = settings;
  const asked = `keys from ${jwksUrl}; issuer ${issuer ?? 'any'}; audience ${audiences.join(' or ') || 'any, so also tokens for other services'}`;
  return [
    { step: 'provider', ok: true, detail: asked },
    ...steps,
    ...streamSteps(ports.configuration.current(), workspace, name, claims),
  ];
}

function streamSteps(
  configuration: Configuration,
  workspace: string,
  provider: string,
  claims: JsonObject | null,
): readonly Check[] {
  const streams = [...streamTable(configuration).streams.values()].filter(
    (stream) => stream.workspace === workspace && stream.security.jwt_provider === provider,
  );
  if (streams.length === 0) {
    return [
      {
        step: 'streams',
        ok: true,
        detail: `no event stream accepts tokens of this provider yet: write security: { jwt_provider: ${provider} }`,
      },
    ];
  }
  return streams.map((stream) => ({ step: `stream ${stream.path}`, ...verdictOf(stream, claims) }));
}

/** Returns what the token's holder may send to the stream. Without a token, returns the requirements. */
function verdictOf({ security }: EventStream, claims: JsonObject | null): Omit<Check, 'step'> {
  const bindings = Object.entries(security.claims ?? {});
  if (bindings.length === 0) return { ok: true, detail: 'this stream accepts any event with a valid token' };
  const asked = bindings.map(([claim, path]) => `${path} equals the claim ${claim}`).join(' and ');
  if (claims === null) return { ok: true, detail: `this stream accepts only events in which ${asked}` };
  const unusable = bindings.find(([claim, path]) => unmetBinding({ [claim]: path }, claims, {})?.why === 'no_claim');
  if (unusable) return { ok: false, detail: `the claim ${unusable[0]} of the token must be a text or a whole number` };
  const wanted = bindings.map(([claim, path]) => `${path} is ${stringifyJson(claims[claim] ?? null)}`).join(' and ');
  return { ok: true, detail: `this stream accepts only events in which ${wanted}` };
}
