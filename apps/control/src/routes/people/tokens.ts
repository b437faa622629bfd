import { goneBody, newTokenBody, tokenInput, tokenList, type TokenShown } from '@carillon/contracts';
import { listResources } from '@carillon/domain/configuration';
import type { PeopleRecord, ServiceToken } from '@carillon/domain/people';
import { CarillonError, formatInstant, parseDuration, type Instant } from '@carillon/kernel';
import { z } from 'zod';
import { createDirectory, type Directory } from '../../access/people/directory.ts';
import { MAX_TOKENS_IN_A_ROW, tokensInARow } from '../../access/people/rights.ts';
import { digestOf, newSecretToken } from '../../access/people/secret-tokens.ts';
import { SCOPE_PERMISSIONS } from '../../access/permission.ts';
import { principalOf, type Principal } from '../../access/principal.ts';
import { audited, digestOf as factsDigest } from '../../audit/facts.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { unknownFilter } from '../../names.ts';
import type { ControlPorts } from '../../ports.ts';
import { listPaging, oldestFirst, pageOfAll } from '../../whole-lists.ts';
import { notFound, type ApiServer } from '../app.ts';

const timeOrNull = (at: Instant | null): string | null => (at === null ? null : formatInstant(at));

const showToken = ({ id, body }: PeopleRecord<'token'>, now: Instant): TokenShown => ({
  id,
  name: body.name,
  scopes: [...body.scopes],
  workspaces: body.workspaces === null ? null : [...body.workspaces],
  by: body.by,
  created_at: formatInstant(body.createdAt),
  expires_at: timeOrNull(body.expiresAt),
  used_at: timeOrNull(body.usedAt),
  expired: body.expiresAt !== null && now >= body.expiresAt,
});

/** Whether all that the token reaches is in sight. */
const seesToken = ({ sees }: VisibleScope, { workspaces }: ServiceToken): boolean =>
  workspaces === null ? sees(null) : workspaces.every(sees);

type TokenContext = Pick<ControlPorts, 'people' | 'ids' | 'clock' | 'configuration'> & {
  readonly directory: Directory;
};

/** Tokens of programs. */
export function tokenRoutes(
  app: ApiServer,
  ports: Pick<ControlPorts, 'people' | 'ids' | 'clock' | 'configuration'>,
): void {
  const context: TokenContext = {
    ...ports,
    directory: createDirectory(ports),
  };
  listTokensRoute(app, context);
  createTokenRoute(app, context);
  revokeTokenRoute(app, context);
}

function listTokensRoute(app: ApiServer, context: TokenContext): void {
  const { clock, directory } = context;
  app.get(
    '/v1/tokens',
    {
      config: { permission: 'people', across: true },
      schema: {
        operationId: 'listTokens',
        tags: ['Service tokens'],
        summary: 'Service tokens, the oldest first: what they may, never the secret part',
        querystring: z.strictObject(listPaging),
        response: { 200: tokenList },
      },
    },
    async (request) => {
      const all = await directory.all('token');
      const mine = all.filter(({ body }) => seesToken(visibleScopeOf(request), body));
      const { rows, next } = pageOfAll(mine, ({ id, body }) => oldestFirst(body.createdAt, id), request.query);
      return { items: rows.map((one) => showToken(one, clock.now())), next };
    },
  );
}

function createTokenRoute(app: ApiServer, context: TokenContext): void {
  const { people, ids, clock } = context;
  app.post(
    '/v1/tokens',
    {
      config: { permission: 'people', across: true, audit: 'token.create' },
      schema: {
        operationId: 'createToken',
        tags: ['Service tokens'],
        summary: 'Makes a service token; the answer is the only one that holds it whole',
        body: tokenInput,
        response: { 201: newTokenBody },
      },
    },
    async (request, reply) => {
      const { name, expires_in } = request.body;
      const principal = principalOf(request);
      const scopes = [...new Set(request.body.scopes)];
      const workspaces = request.body.workspaces === undefined ? null : [...new Set(request.body.workspaces)];
      const known = listResources(await context.configuration.refresh(), 'workspace').map(({ ref }) => ref.workspace);
      const strange = workspaces?.find((one) => !known.includes(one));
      refuseMore(principal, { scopes, workspaces });
      if ((await tokensInARow(principal.actor, people)) >= MAX_TOKENS_IN_A_ROW) {
        throw new CarillonError(
          'forbidden_role',
          `${MAX_TOKENS_IN_A_ROW} tokens in a row were created by tokens, which is the limit: create this one as a person, or with a token that a person created`,
        );
      }
      if (strange !== undefined) throw unknownFilter('workspaces', 'workspace', strange, known);
      const now = clock.now();
      const span = expires_in === undefined ? null : parseDuration(expires_in);
      if (span?.ok === false) {
        throw new CarillonError('invalid_request', `expires_in: ${span.error}`, { pointer: '/expires_in' });
      }
      const word = newSecretToken('svc_');
      // A token that ends makes none that outlives it.
      const ends = [span === null ? null : now + span.value, principal.expiresAt ?? null].filter((at) => at !== null);
      const expiresAt = ends.length === 0 ? null : Math.min(...ends);
      const record: PeopleRecord<'token'> = {
        kind: 'token',
        id: ids.random('token'),
        version: 1,
        key: digestOf(word),
        of: null,
        endsAt: null,
        body: {
          name,
          scopes,
          workspaces,
          by: principal.actor,
          createdAt: now,
          expiresAt,
          usedAt: null,
        },
      };
      audited(request, {
        target: record.id,
        after: factsDigest({ scopes, workspaces, expires: record.body.expiresAt }),
      });
      if ((await people.replace(record)) !== 'done')
        throw new Error('the new random id or token exists already; send the request again');
      return reply.code(201).send({ ...showToken(record, now), token: word });
    },
  );
}

function revokeTokenRoute(app: ApiServer, context: TokenContext): void {
  const { people } = context;
  app.delete(
    '/v1/tokens/:id',
    {
      config: { permission: 'people', across: true, audit: 'token.revoke', problems: ['not_found'] },
      schema: {
        operationId: 'revokeToken',
        tags: ['Service tokens'],
        summary: 'Ends a service token at once',
        params: z.object({ id: z.string().max(100) }),
        response: { 200: goneBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const found = await people.find('token', id);
      if (!found || !seesToken(visibleScopeOf(request), found.body)) throw notFound('service token of this id');
      const { scopes, workspaces, expiresAt } = found.body;
      audited(request, {
        before: factsDigest({ scopes: [...scopes], workspaces: workspaces && [...workspaces], expires: expiresAt }),
      });
      return { removed: await people.remove('token', id) };
    },
  );
}

/** Throws where a token would be allowed what its maker is not. */
function refuseMore(principal: Principal, body: Pick<ServiceToken, 'scopes' | 'workspaces'>): void {
  for (const scope of body.scopes) {
    for (const where of body.workspaces ?? [null]) {
      if (SCOPE_PERMISSIONS[scope].every((one) => principal.may(one, where))) continue;
      const place = where === null ? 'the whole deployment: name workspaces' : `workspace ${where}`;
      throw new CarillonError('forbidden_role', `you may not give the scope ${scope} in ${place}`);
    }
  }
}
