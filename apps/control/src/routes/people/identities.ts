import { connectBody, connectInput, goneBody, identityList, type IdentityShown } from '@carillon/contracts';
import { signInOf } from '@carillon/domain/configuration';
import type { PeopleRecord } from '@carillon/domain/people';
import { CarillonError, formatInstant } from '@carillon/kernel';
import { z } from 'zod';
import type { Access } from '../../access/access.ts';
import { createAsker } from '../../access/people/asker.ts';
import { createDirectory } from '../../access/people/directory.ts';
import { createProviderSignIn, type ProviderPorts } from '../../access/providers/provider-sign-in.ts';
import { audited } from '../../audit/facts.ts';
import { listPaging, oldestFirst, pageOfAll } from '../../whole-lists.ts';
import { notFound, type ApiServer } from '../app.ts';

/** Accounts of identity providers that somebody signs in with. */
export function identityRoutes(app: ApiServer, access: Access, ports: ProviderPorts): void {
  const { people, configuration } = ports;
  const directory = createDirectory(ports);
  const { asker, prove } = createAsker(access, people);
  const signIn = createProviderSignIn(access, ports);

  const shown = ({ id, body }: PeopleRecord<'identity'>): IdentityShown => {
    const provider = signInOf(configuration.current()).providers.find(({ issuer }) => issuer === body.issuer);
    return { id, provider: provider?.name ?? null, issuer: body.issuer, bound_at: formatInstant(body.boundAt) };
  };

  app.get(
    '/v1/me/identities',
    {
      config: { permission: 'self', problems: ['forbidden'] },
      schema: {
        operationId: 'listIdentities',
        tags: ['Me'],
        summary: 'Accounts of identity providers that you sign in with',
        querystring: z.strictObject(listPaging),
        response: { 200: identityList },
      },
    },
    async (request) => {
      const all = await directory.all('identity', (await asker(request)).id);
      const { rows, next } = pageOfAll(all, ({ id, body }) => oldestFirst(body.boundAt, id), request.query);
      return { items: rows.map(shown), next };
    },
  );

  app.post(
    '/v1/me/identities',
    {
      config: {
        permission: 'self',
        audit: 'person.credentials',
        problems: ['forbidden', 'not_found', 'provider_unavailable', 'secret_missing', 'rate_limited', 'unauthorized'],
      },
      schema: {
        operationId: 'connectIdentity',
        tags: ['Me'],
        summary: 'Starts to connect an account of an identity provider. The browser is redirected there and back',
        body: connectInput,
        response: { 201: connectBody },
      },
    },
    async (request, reply) => {
      const { provider, current_password, to = '/settings/profile' } = request.body;
      const who = await asker(request);
      await prove(request, who, current_password);
      const { location, cookie } = await signIn.connect(provider, to, who.session.id, request);
      return reply.code(201).header('set-cookie', cookie).send({ location });
    },
  );

  app.delete(
    '/v1/me/identities/:id',
    {
      config: { permission: 'self', audit: 'person.credentials', problems: ['forbidden', 'not_found', 'wrong_state'] },
      schema: {
        operationId: 'removeIdentity',
        tags: ['Me'],
        summary: 'Disconnects an account of an identity provider',
        params: z.object({ id: z.string().max(100) }),
        response: { 200: goneBody },
      },
    },
    async (request) => {
      const { id, person } = await asker(request);
      const all = await directory.all('identity', id);
      if (!all.some((one) => one.id === request.params.id)) throw notFound('account of yours with this id');
      if (all.length === 1 && (person.password === null || !signInOf(configuration.current()).passwords)) {
        throw new CarillonError(
          'wrong_state',
          'you could not sign in any more: set a password or connect another account first',
        );
      }
      audited(request, { target: id });
      return { removed: await people.remove('identity', request.params.id) };
    },
  );
}
