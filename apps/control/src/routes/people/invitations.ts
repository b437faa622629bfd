import {
  acceptInput,
  goneBody,
  invitationInput,
  invitationList,
  invitationWordInput,
  newInvitationBody,
  openedSessionBody,
  promisedBody,
  type InvitationShown,
} from '@carillon/contracts';
import { listResources, portalUrlOf, signInOf } from '@carillon/domain/configuration';
import { emailKey, type Membership } from '@carillon/domain/people';
import { CarillonError, formatInstant, isCarillonError } from '@carillon/kernel';
import { isOverTls, sourceOf } from '@carillon/runtime';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Access } from '../../access/access.ts';
import { refuseForeign, refuseForgery } from '../../access/origin.ts';
import { createDirectory, type Directory } from '../../access/people/directory.ts';
import { mailInvitation } from '../../access/people/invitation-mail.ts';
import { notifyPerson } from '../../access/people/notices.ts';
import { createInvitations, type InvitationRecord } from '../../access/people/invitations.ts';
import { refuseWeak } from '../../access/people/passwords.ts';
import { refuseHigherRoles } from '../../access/people/rights.ts';
import { principalOf, refuseToken, type Principal } from '../../access/principal.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited, digestOf } from '../../audit/facts.ts';
import { beginAudit } from '../../audit/hook.ts';
import { unknownFilter } from '../../names.ts';
import type { ControlPorts } from '../../ports.ts';
import { createRate, type Rate } from '../../rate.ts';
import { listPaging, newestFirst, pageOfAll } from '../../whole-lists.ts';
import { notFound, type ApiServer } from '../app.ts';

type InvitationPorts = Pick<
  ControlPorts,
  'people' | 'ids' | 'clock' | 'configuration' | 'secrets' | 'senders' | 'watch'
>;

const showInvitation = ({ id, body, endsAt }: InvitationRecord): InvitationShown => ({
  id,
  email: body.email,
  owner: body.owner,
  memberships: body.memberships.map(({ workspace, role }) => ({ workspace, role })),
  by: body.by,
  created_at: formatInstant(body.createdAt),
  ends_at: formatInstant(endsAt ?? body.createdAt),
  used: body.usedBy !== null,
});

/** Whether all that it promises is in sight. */
const seesInvitation = ({ sees }: VisibleScope, { body }: InvitationRecord): boolean =>
  body.owner ? sees(null) : body.memberships.every(({ workspace }) => sees(workspace));

type InvitationContext = InvitationPorts & {
  readonly access: Access;
  readonly directory: Directory;
  readonly invitations: ReturnType<typeof createInvitations>;
  readonly wrongWords: Rate;
  readonly mails: Rate;
};

/** Routes for invitations. */
export function invitationRoutes(app: ApiServer, access: Access, ports: InvitationPorts): void {
  const context: InvitationContext = {
    ...ports,
    access,
    directory: createDirectory(ports),
    invitations: createInvitations(ports),
    // Nobody guesses 256 bits: this only keeps the audit short.
    wrongWords: createRate({ what: 'wrong words of invitations', most: 10, span: 60_000 }),
    mails: createRate({ what: 'invitations', most: 60, span: 3_600_000 }),
  };
  listInvitationsRoute(app, context);
  createInvitationRoute(app, context);
  endInvitationRoute(app, context);
  lookAtInvitationRoute(app, context);
  acceptInvitationRoute(app, context);
}

function listInvitationsRoute(app: ApiServer, context: InvitationContext): void {
  const { directory, invitations } = context;
  app.get(
    '/v1/invitations',
    {
      config: { permission: 'people', across: true },
      schema: {
        operationId: 'listInvitations',
        tags: ['People'],
        summary: 'Invitations of the last seven days, the newest first, used ones among them; never their words',
        querystring: z.strictObject(listPaging),
        response: { 200: invitationList },
      },
    },
    async (request) => {
      const seen = (await directory.all('invitation')).filter(
        (one) => invitations.lasts(one) && seesInvitation(visibleScopeOf(request), one),
      );
      const { rows, next } = pageOfAll(seen, ({ id, body }) => newestFirst(body.createdAt, id), request.query);
      return { items: rows.map(showInvitation), next };
    },
  );
}

function createInvitationRoute(app: ApiServer, context: InvitationContext): void {
  const { clock, access, invitations, mails } = context;
  app.post(
    '/v1/invitations',
    {
      config: {
        permission: 'people',
        across: true,
        audit: 'invitation.create',
        problems: ['forbidden', 'conflict', 'rate_limited'],
      },
      schema: {
        operationId: 'createInvitation',
        tags: ['People'],
        summary:
          'Invites a person with a link for one use within 7 days. The link is shown once, and mailed if the deployment has an email account',
        body: invitationInput,
        response: { 201: newInvitationBody },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const { email, owner } = request.body;
      const memberships = request.body.memberships.filter(
        (one, at, all) => all.findIndex((other) => isSameMembership(one, other)) === at,
      );
      await refuseMore(principal, { owner, memberships }, context);
      mails.take(principal.name, clock.now());
      const { record, word } = await invitations.make({ email, owner, memberships }, principal.actor);
      audited(request, { target: record.id, after: digestOf({ owner, memberships }) });
      const portal = portalUrlOf(context.configuration.current());
      const mail = { id: record.id, to: email, path: pathOf(word), endsAt: record.endsAt ?? 0 };
      const mailed = await mailInvitation(mail, await inviterName(principal, context), access.mail);
      const link = `${portal ?? originOf(request)}${pathOf(word)}`;
      return reply.code(201).send({ ...showInvitation(record), word, link, mailed });
    },
  );
}

function endInvitationRoute(app: ApiServer, context: InvitationContext): void {
  const { people } = context;
  app.delete(
    '/v1/invitations/:id',
    {
      config: { permission: 'people', across: true, audit: 'invitation.revoke', problems: ['not_found'] },
      schema: {
        operationId: 'endInvitation',
        tags: ['People'],
        summary: 'Revokes an invitation: its link stops working. A person who accepted it stays a member',
        params: z.object({ id: z.string().max(100) }),
        response: { 200: goneBody },
      },
    },
    async (request) => {
      const found = await people.find('invitation', request.params.id);
      if (!found || !seesInvitation(visibleScopeOf(request), found)) throw notFound('invitation of this id');
      return { removed: await people.remove('invitation', found.id) };
    },
  );
}

function lookAtInvitationRoute(app: ApiServer, context: InvitationContext): void {
  const { people, invitations } = context;
  app.post(
    '/v1/invitations/look',
    {
      config: { permission: 'anybody', audit: false, problems: ['not_found', 'rate_limited'] },
      schema: {
        operationId: 'lookAtInvitation',
        tags: ['People'],
        summary: 'The contents of an invitation, for the holder of its link. Reading does not use it up',
        body: invitationWordInput,
        response: { 200: promisedBody },
      },
    },
    async (request) => {
      const { record, promised } = await openInvitation(request.body.word, request, context);
      return {
        email: promised.email,
        owner: promised.owner,
        memberships: promised.memberships.map(({ workspace, role }) => ({ workspace, role })),
        ends_at: formatInstant(record.endsAt ?? 0),
        has_account:
          (await people.findByKey('person', emailKey(promised.email))) !== null &&
          (await invitations.lockedOut(record)) === null,
      };
    },
  );
}

function acceptInvitationRoute(app: ApiServer, context: InvitationContext): void {
  const { access, invitations } = context;
  app.post(
    '/v1/invitations/accept',
    {
      config: {
        permission: 'anybody',
        audit: 'invitation.accept',
        problems: ['not_found', 'conflict', 'forbidden', 'rate_limited', 'overloaded', 'cross_site', 'unauthorized'],
      },
      schema: {
        operationId: 'acceptInvitation',
        tags: ['People'],
        summary:
          'Uses an invitation: makes a person with name and password (with the name alone where passwords are off) and signs them in; or gives its roles to who is signed in and has its address',
        body: acceptInput,
        response: { 200: openedSessionBody },
      },
    },
    async (request, reply) => {
      refuseForeign(request);
      const { word, name, password } = request.body;
      const found = await openInvitation(word, request, context);
      const principal = await access.who(request);
      if (principal) refuseForgery(request, principal);
      const signedIn = principal?.session?.body.personId;
      const lockedOut = signedIn === undefined ? await invitations.lockedOut(found.record) : null;
      const personId = signedIn ?? lockedOut?.id ?? invitations.personOf(found.record);
      audited(request, { actor: { kind: 'person', id: personId }, target: found.record.id });
      if (signedIn !== undefined) {
        await beginAudit(request);
        await invitations.acceptAs(found, signedIn);
        return { ok: true, person: signedIn, way: 'invitation' };
      }
      const { passwords } = signInOf(context.configuration.current());
      if (!passwords && password !== undefined) {
        throw new CarillonError(
          'invalid_request',
          'password: passwords are switched off here; leave it out, and connect an account of the identity provider after this',
          { pointer: '/password' },
        );
      }
      if (name === undefined || (passwords && password === undefined)) {
        const missing = name === undefined ? 'name' : 'password';
        throw new CarillonError('invalid_request', `${missing}: choose one, or sign in first`, {
          pointer: `/${missing}`,
        });
      }
      if (password !== undefined) refuseWeak(password, { name, email: found.promised.email });
      const passwordHash = password === undefined ? null : await access.passwords.hash(password, sourceOf(request.ip));
      await beginAudit(request);
      if (lockedOut) {
        await invitations.acceptAsLockedOut(found, personId, passwordHash);
        notifyPerson(access.mail, lockedOut.body, 'password_set', request);
      } else {
        await invitations.acceptAsNew(found, { name, passwordHash });
      }
      const { cookie, way } = await access.openFor(personId, 'invitation', request);
      return reply.header('set-cookie', cookie).send({ ok: true, person: personId, way });
    },
  );
}

const workspaceNames = async (context: InvitationContext): Promise<readonly string[]> =>
  listResources(await context.configuration.refresh(), 'workspace').map(({ ref }) => ref.workspace);

/** Throws if the invitation grants more than the caller may, or names something that does not exist. */
async function refuseMore(
  principal: Principal,
  { owner, memberships }: { readonly owner: boolean; readonly memberships: readonly Membership[] },
  context: InvitationContext,
): Promise<void> {
  if (owner) {
    refuseToken(principal, 'only a person, or the owner token, may invite an owner of the deployment');
    if (!principal.may('people', null)) {
      throw new CarillonError('forbidden_role', 'only owners of the deployment may invite another owner');
    }
  }
  if (!owner && memberships.length === 0) {
    throw new CarillonError('invalid_request', 'memberships: name a workspace and a role, or send owner: true', {
      pointer: '/memberships',
    });
  }
  for (const { workspace, role } of memberships) refuseHigherRoles(principal, [role], workspace);
  const known = await workspaceNames(context);
  const strange = memberships.find(({ workspace }) => !known.includes(workspace));
  if (strange) throw unknownFilter('memberships', 'workspace', strange.workspace, known);
}

/** Returns the name of the inviter for the mail. */
async function inviterName({ actor }: Principal, context: InvitationContext): Promise<string> {
  const { people } = context;
  const found = actor.kind === 'person' ? await people.find('person', actor.id) : null;
  return found?.body.name ?? 'An owner';
}

/** Opens the invitation of a token. Many wrong tokens are delayed. */
async function openInvitation(word: string, request: FastifyRequest, context: InvitationContext) {
  const { clock, invitations, wrongWords } = context;
  try {
    return await invitations.find(word, await workspaceNames(context));
  } catch (error) {
    if (isCarillonError(error) && error.code === 'not_found') wrongWords.take(request.ip, clock.now());
    throw error;
  }
}

const isSameMembership = (one: Membership, other: Membership): boolean =>
  one.workspace === other.workspace && one.role === other.role;

/** The token is in the fragment, which browsers send to no server, so no log has it. */
const pathOf = (word: string): string => `/invitation#${word}`;

/**
 * Returns the portal's origin as the caller reached it. Only for the response to the caller: a mail must not use it,
 * because a client can forge the header.
 */
const originOf = (request: FastifyRequest): string =>
  `${isOverTls(request) ? 'https' : 'http'}://${request.headers.host ?? request.hostname}`;
