import {
  endedBody,
  openedSessionBody,
  ownerLinkBody,
  ownerLinkInput,
  sessionBody,
  sessionList,
  signInBody,
  type SessionShown,
} from '@carillon/contracts';
import { emailKey, type PeopleRecord } from '@carillon/domain/people';
import { CarillonError, formatInstant } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Access } from '../../access/access.ts';
import { audited } from '../../audit/facts.ts';
import { createDirectory, type Directory } from '../../access/people/directory.ts';
import { createSessions } from '../../access/people/sessions.ts';
import { principalOf, refuseToken } from '../../access/principal.ts';
import type { ControlPorts } from '../../ports.ts';
import { listPaging, newestFirst, pageOfAll } from '../../whole-lists.ts';
import { notFound, type ApiServer } from '../app.ts';

type SessionPorts = Pick<ControlPorts, 'people' | 'ids' | 'clock'>;

/** A session as a person sees it. */
export const showSession = (
  { id, body, endsAt }: PeopleRecord<'session'>,
  current: string | undefined,
): SessionShown => ({
  id,
  person: body.personId,
  way: body.way,
  current: id === current,
  created_at: formatInstant(body.createdAt),
  used_at: formatInstant(body.usedAt),
  ends_at: formatInstant(endsAt ?? body.createdAt),
  address: body.from.address,
  agent: body.from.agent,
});

const ofPerson = z.strictObject({
  person: z.string().max(100).optional().describe('Another person. Only for owners of the deployment'),
});

type SessionContext = SessionPorts & {
  readonly access: Access;
  readonly directory: Directory;
  readonly sessions: ReturnType<typeof createSessions>;
};

/** Signing in and out, links that sign in, and the sessions that there are. */
export function sessionRoutes(app: ApiServer, access: Access, ports: SessionPorts): void {
  const context: SessionContext = {
    ...ports,
    access,
    directory: createDirectory(ports),
    sessions: createSessions(ports),
  };
  openSessionRoute(app, context);
  closeSessionRoute(app, context);
  createOwnerLinkRoute(app, context);
  listSessionsRoute(app, context);
  endSessionsRoute(app, context);
  endSessionRoute(app, context);
}

function openSessionRoute(app: ApiServer, context: SessionContext): void {
  const { access } = context;
  app.post(
    '/v1/session',
    {
      config: {
        permission: 'anybody',
        audit: 'session.open',
        problems: ['unauthorized', 'second_factor', 'forbidden', 'rate_limited'],
      },
      schema: {
        operationId: 'openSession',
        tags: ['Sessions'],
        summary: 'Opens a session for the word of a sign-in link, for address and password, or for the owner token',
        body: signInBody,
        response: { 200: openedSessionBody },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const meant = 'email' in body ? await context.people.findByKey('person', emailKey(body.email)) : null;
      // Which account is guessed at is on the audit; an address that nobody has is not.
      if (meant) audited(request, { target: meant.id });
      const { cookie, personId, way } = await access.openSession(request.body, request);
      audited(request, { actor: { kind: 'person', id: personId } });
      return reply.header('set-cookie', cookie).send({ ok: true, person: personId, way });
    },
  );
}

function closeSessionRoute(app: ApiServer, context: SessionContext): void {
  const { access } = context;
  app.delete(
    '/v1/session',
    {
      config: { permission: 'self', audit: 'session.close' },
      schema: {
        operationId: 'closeSession',
        tags: ['Sessions'],
        summary: 'Signs this browser out',
        response: { 200: sessionBody },
      },
    },
    async (request, reply) => reply.header('set-cookie', await access.closeSession(request)).send({ ok: true }),
  );
}

function createOwnerLinkRoute(app: ApiServer, context: SessionContext): void {
  const { access, directory } = context;
  app.post(
    '/v1/owner-links',
    {
      config: {
        permission: 'people',
        audit: 'owner_link.create',
        problems: ['not_found', 'forbidden', 'invalid_request'],
      },
      schema: {
        operationId: 'createOwnerLink',
        tags: ['Sessions'],
        summary: 'Makes a link that signs in as owner, once and within 15 minutes; the one before it ends',
        body: ownerLinkInput.nullish(),
        response: { 201: ownerLinkBody },
      },
    },
    async (request, reply) => {
      refuseToken(principalOf(request), 'only a person, or the owner token, may create a link that signs in');
      const email = request.body?.email;
      // A link belongs to the person who makes it, not to the first owner.
      const own = principalOf(request).session?.body.personId ?? null;
      const personId = email === undefined ? own : await findOwner(email, context);
      const [first = null, ...others] = await directory.activeOf((await directory.roster()).owners);
      if (personId === null && others.length > 0) {
        throw new CarillonError(
          'invalid_request',
          `email: there are ${others.length + 1} owners; name the owner of the link (npx carillon owner-link --email ADDRESS; npx carillon people list shows them)`,
          { pointer: '/email' },
        );
      }
      audited(request, { target: personId ?? first ?? 'the first owner' });
      const { word: made, endsAt } = await access.makeLink(personId);
      return reply.code(201).send({ word: made, ends_at: formatInstant(endsAt) });
    },
  );
}

function listSessionsRoute(app: ApiServer, context: SessionContext): void {
  const { directory, sessions } = context;
  app.get(
    '/v1/sessions',
    {
      config: { permission: 'self', problems: ['not_found'] },
      schema: {
        operationId: 'listSessions',
        tags: ['Sessions'],
        summary: 'Sessions of a person, newest first',
        querystring: ofPerson.extend(listPaging),
        response: { 200: sessionList },
      },
    },
    async (request) => {
      const found = await directory.all('session', personOfSessions(request, request.query.person));
      const place = ({ id, body }: PeopleRecord<'session'>): string => newestFirst(body.createdAt, id);
      const { rows, next } = pageOfAll(found.filter(sessions.lasts), place, request.query);
      return { items: rows.map((one) => showSession(one, principalOf(request).session?.id)), next };
    },
  );
}

function endSessionsRoute(app: ApiServer, context: SessionContext): void {
  app.delete(
    '/v1/sessions',
    {
      config: { permission: 'self', audit: 'session.close', problems: ['not_found'] },
      schema: {
        operationId: 'endSessions',
        tags: ['Sessions'],
        summary: 'Ends all sessions of a person except the caller’s',
        querystring: ofPerson,
        response: { 200: endedBody },
      },
    },
    async (request) => {
      const of = personOfSessions(request, request.query.person);
      audited(request, { target: of });
      return { ended: await context.people.removeOf('session', of, principalOf(request).session?.id) };
    },
  );
}

function endSessionRoute(app: ApiServer, context: SessionContext): void {
  app.delete(
    '/v1/sessions/:id',
    {
      config: { permission: 'self', audit: 'session.close', problems: ['not_found'] },
      schema: {
        operationId: 'endSession',
        tags: ['Sessions'],
        summary: 'Ends one session at once',
        params: z.object({ id: z.string().max(100) }),
        response: { 200: endedBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const found = await context.people.find('session', id);
      const principal = principalOf(request);
      const mine = found !== null && found.body.personId === principal.session?.body.personId;
      if (!found || !(mine || principal.may('people', null))) throw notFound('session of this id');
      return { ended: (await context.people.remove('session', id)) ? 1 : 0 };
    },
  );
}

async function findOwner(email: string, context: SessionContext): Promise<string> {
  const { directory } = context;
  const found = await context.people.findByKey('person', emailKey(email));
  const { owners } = await directory.roster();
  if (found && owners.includes(found.id)) return found.id;
  throw notFound('owner of the deployment with this address', 'npx carillon people list shows them');
}

/**
 * Returns the person whose sessions the request is about: the caller, or another person for owners of the deployment.
 */
function personOfSessions(request: FastifyRequest, wanted: string | undefined): string {
  const principal = principalOf(request);
  const own = principal.session?.body.personId;
  if (wanted === undefined || wanted === own) {
    if (own !== undefined) return own;
    throw new CarillonError('invalid_request', 'person: name the person, because a token has no sessions');
  }
  if (principal.may('people', null)) return wanted;
  throw notFound('person of this id');
}
