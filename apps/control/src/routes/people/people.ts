import {
  goneBody,
  memberInput,
  memberList,
  memberShown,
  peopleList,
  personInput,
  personShown,
  type MemberShown,
  type PersonShown,
} from '@carillon/contracts';
import type { Membership, PeopleRecord, Role } from '@carillon/domain/people';
import { CarillonError, formatInstant } from '@carillon/kernel';
import type { Access } from '../../access/access.ts';
import { notifyPerson } from '../../access/people/notices.ts';
import { refuseHigherRoles } from '../../access/people/rights.ts';
import { principalOf, refuseToken } from '../../access/principal.ts';
import { audited, digestOf as factsDigest } from '../../audit/facts.ts';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createDirectory, type Directory } from '../../access/people/directory.ts';
import type { ControlPorts } from '../../ports.ts';
import { listPaging, oldestFirst, pageOfAll } from '../../whole-lists.ts';
import { inWorkspace, notFound, withId, type ApiServer } from '../app.ts';

const showPerson = (
  { id, body }: PeopleRecord<'person'>,
  owners: readonly string[],
  unconfirmed: string | null,
): PersonShown => ({
  id,
  name: body.name,
  email: body.email,
  unconfirmed_email: unconfirmed,
  state: body.state,
  owner: owners.includes(id),
  memberships: body.memberships.map(({ workspace, role }) => ({ workspace, role })),
  has_password: body.password !== null,
  totp: typeof body.totp?.confirmedAt === 'number',
  created_at: formatInstant(body.createdAt),
});

const rolesIn = (memberships: readonly Membership[], workspace: string): Role[] =>
  memberships.filter((one) => one.workspace === workspace).map(({ role }) => role);

const placeOf = ({ id, body }: PeopleRecord<'person'>): string => oldestFirst(body.createdAt, id);

const withPerson = z.object({ id: z.string().max(100) });

type PeopleContext = Pick<ControlPorts, 'people' | 'ids' | 'clock'> & {
  readonly access: Access;
  readonly directory: Directory;
};

/** People of the deployment, and who of them is what in a workspace. */
export function peopleRoutes(
  app: ApiServer,
  access: Access,
  ports: Pick<ControlPorts, 'people' | 'ids' | 'clock'>,
): void {
  const context: PeopleContext = {
    ...ports,
    access,
    directory: createDirectory(ports),
  };
  listPeopleRoute(app, context);
  readPersonRoute(app, context);
  changePersonRoute(app, context);
  removePersonRoute(app, context);
  resetCredentialsRoute(app, context);
  listMembersRoute(app, context);
  changeMemberRoute(app, context);
  removeMemberRoute(app, context);
}

function listPeopleRoute(app: ApiServer, context: PeopleContext): void {
  const { directory } = context;
  app.get(
    '/v1/people',
    {
      config: { permission: 'people' },
      schema: {
        operationId: 'listPeople',
        tags: ['People'],
        summary: 'Everybody who may sign in, the oldest account first',
        querystring: z.strictObject(listPaging),
        response: { 200: peopleList },
      },
    },
    async ({ query }) => {
      const { owners } = await directory.roster();
      const { rows, next } = pageOfAll(await directory.all('person'), placeOf, query);
      const items = rows.map(async (one) => showPerson(one, owners, await unconfirmedOf(one.id, context)));
      return { items: await Promise.all(items), next };
    },
  );
}

function readPersonRoute(app: ApiServer, context: PeopleContext): void {
  app.get(
    '/v1/people/:id',
    {
      config: { permission: 'people', problems: ['not_found'] },
      schema: {
        operationId: 'readPerson',
        tags: ['People'],
        summary: 'One person, with roles and what they sign in with',
        params: withPerson,
        response: { 200: personShown },
      },
    },
    ({ params }) => showPersonOf(params.id, context),
  );
}

function changePersonRoute(app: ApiServer, context: PeopleContext): void {
  const { people, directory } = context;
  app.put(
    '/v1/people/:id',
    {
      config: { permission: 'people', audit: 'person.change', problems: ['not_found', 'wrong_state', 'forbidden'] },
      schema: {
        operationId: 'changePerson',
        tags: ['People'],
        summary: 'Renames or disables a person, or makes them an owner of the deployment',
        params: withPerson,
        body: personInput,
        response: { 200: personShown },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { name, state, owner } = request.body;
      const { body: before } = await findPerson(id, context);
      const wasOwner = await refuseOwnersByToken(request, id, context);
      if (owner !== undefined) refuseToken(principalOf(request), 'only a person may change who owns the deployment');
      audited(request, {
        target: id,
        before: factsDigest({ state: before.state, owner: wasOwner }),
        after: factsDigest({ state: state ?? before.state, owner: owner ?? (state === 'disabled' ? false : wasOwner) }),
      });
      if (state === 'disabled' && owner === true) {
        throw new CarillonError('invalid_request', 'owner: a disabled person cannot own the deployment', {
          pointer: '/owner',
        });
      }
      // An owner who is disabled would be counted as one who can still get in.
      if (owner === false || state === 'disabled') await directory.dismissOwner(id);
      await directory.changePerson(id, (person) => ({
        ...person,
        name: name ?? person.name,
        state: state ?? person.state,
        // Sessions of before do not come back with the person.
        epoch: state === 'disabled' ? person.epoch + 1 : person.epoch,
      }));
      if (state === 'disabled') await people.removeOf('session', id);
      if (owner === true) {
        if ((await findPerson(id, context)).body.state === 'disabled') {
          throw new CarillonError('wrong_state', 'this person is disabled: send state active too');
        }
        await directory.appointOwner(id);
      }
      return showPersonOf(id, context);
    },
  );
}

function removePersonRoute(app: ApiServer, context: PeopleContext): void {
  const { directory } = context;
  app.delete(
    '/v1/people/:id',
    {
      config: { permission: 'people', audit: 'person.remove', problems: ['not_found', 'wrong_state', 'forbidden'] },
      schema: {
        operationId: 'removePerson',
        tags: ['People'],
        summary: 'Removes a person with name, address and sessions. The id stays in records of their actions',
        params: withPerson,
        response: { 200: goneBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { body } = await findPerson(id, context);
      await refuseOwnersByToken(request, id, context);
      audited(request, { target: id, before: rolesDigest(body.memberships) });
      await directory.removePerson(id);
      return { removed: true };
    },
  );
}

function resetCredentialsRoute(app: ApiServer, context: PeopleContext): void {
  const { people, access, directory } = context;
  app.delete(
    '/v1/people/:id/credentials',
    {
      config: { permission: 'people', audit: 'person.credentials', problems: ['not_found', 'forbidden'] },
      schema: {
        operationId: 'resetCredentials',
        tags: ['People'],
        summary: 'Removes the password, authenticator and connected accounts of a person, and ends all their sessions',
        params: withPerson,
        response: { 200: goneBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      await refuseOwnersByToken(request, id, context);
      const { body: before } = await findPerson(id, context);
      await directory.changePerson(id, (person) => ({
        ...person,
        password: null,
        totp: null,
        recoveryCodes: [],
        epoch: person.epoch + 1,
      }));
      await people.removeOf('identity', id);
      await people.removeOf('session', id);
      // Somebody else may have asked for the new address. A new authenticator begins without wrong codes.
      await people.removeOf('mailed_link', id);
      await access.factors.forget(id);
      notifyPerson(access.mail, before, 'credentials_reset', request);
      return { removed: true };
    },
  );
}

function listMembersRoute(app: ApiServer, context: PeopleContext): void {
  const { directory } = context;
  app.get(
    '/v1/workspaces/:workspace/members',
    {
      config: { permission: 'people' },
      schema: {
        operationId: 'listMembers',
        tags: ['People'],
        summary: 'Who has a role in a workspace; owners of the deployment have all of them everywhere',
        params: inWorkspace,
        querystring: z.strictObject(listPaging),
        response: { 200: memberList },
      },
    },
    async ({ params: { workspace }, query }) => {
      const all = await directory.all('person');
      const members = all.filter(({ body }) => rolesIn(body.memberships, workspace).length > 0);
      const { rows, next } = pageOfAll(members, placeOf, query);
      return { items: await Promise.all(rows.map((one) => showMember(one, workspace, context))), next };
    },
  );
}

function changeMemberRoute(app: ApiServer, context: PeopleContext): void {
  const { directory } = context;
  app.put(
    '/v1/workspaces/:workspace/members/:id',
    {
      config: { permission: 'people', audit: 'member.change', problems: ['not_found'] },
      schema: {
        operationId: 'changeMember',
        tags: ['People'],
        summary:
          'Sets the roles of a member in a workspace, from their next request on. Only owners of the deployment can add a member directly; others invite',
        params: withId,
        body: memberInput,
        response: { 200: memberShown },
      },
    },
    async (request) => {
      const { workspace, id } = request.params;
      const { roles } = request.body;
      const principal = principalOf(request);
      const { memberships } = (await findPerson(id, context)).body;
      const before = rolesIn(memberships, workspace);
      // Only callers who see all people may learn that a non-member exists; others must invite.
      if (before.length === 0 && !principal.may('people', null)) throw notMember();
      // Removing a role also requires the right to grant it.
      refuseHigherRoles(principal, [...before, ...roles], workspace);
      audited(request, {
        target: id,
        before: factsDigest([...before].toSorted()),
        after: factsDigest([...roles].toSorted()),
      });
      await directory.changePerson(id, (person) => ({
        ...person,
        memberships: [
          ...person.memberships.filter((one) => one.workspace !== workspace),
          ...[...new Set(roles)].map((role) => ({ workspace, role })),
        ],
      }));
      return showMember(await findPerson(id, context), workspace, context);
    },
  );
}

function removeMemberRoute(app: ApiServer, context: PeopleContext): void {
  const { people, directory } = context;
  app.delete(
    '/v1/workspaces/:workspace/members/:id',
    {
      config: { permission: 'people', audit: 'member.remove', problems: ['not_found'] },
      schema: {
        operationId: 'removeMember',
        tags: ['People'],
        summary: 'Removes all roles of a person in a workspace',
        params: withId,
        response: { 200: goneBody },
      },
    },
    async (request) => {
      const { workspace, id } = request.params;
      const found = await people.find('person', id);
      const before = rolesIn(found?.body.memberships ?? [], workspace);
      if (before.length === 0) throw notMember();
      refuseHigherRoles(principalOf(request), before, workspace);
      audited(request, { target: id, before: factsDigest([...before].toSorted()) });
      await directory.changePerson(id, (person) => ({
        ...person,
        memberships: person.memberships.filter((one) => one.workspace !== workspace),
      }));
      return { removed: true };
    },
  );
}

async function findPerson(id: string, context: PeopleContext): Promise<PeopleRecord<'person'>> {
  const { people } = context;
  const found = await people.find('person', id);
  if (!found) throw notFound('person of this id');
  return found;
}

const notMember = () => notFound('member of this id in the workspace', 'invite them: POST /v1/invitations');

const rolesDigest = (memberships: readonly Membership[]): string =>
  factsDigest(memberships.map(({ workspace, role }) => `${workspace} ${role}`).toSorted());

/**
 * Returns true if the person is an owner of the deployment. Refuses tokens then, because a stolen token could lock out
 * all owners.
 */
async function refuseOwnersByToken(request: FastifyRequest, id: string, context: PeopleContext): Promise<boolean> {
  const { directory } = context;
  const isOwner = (await directory.roster()).owners.includes(id);
  if (isOwner) refuseToken(principalOf(request), 'only a person may change an owner of the deployment');
  return isOwner;
}

const showPersonOf = async (id: string, context: PeopleContext): Promise<PersonShown> =>
  showPerson(
    await findPerson(id, context),
    (await context.directory.roster()).owners,
    await unconfirmedOf(id, context),
  );

const unconfirmedOf = async (id: string, context: PeopleContext): Promise<string | null> =>
  (await context.access.links.pending(id, 'address'))?.body.email ?? null;

const showMember = async (
  { id, body }: PeopleRecord<'person'>,
  workspace: string,
  context: PeopleContext,
): Promise<MemberShown> => ({
  person: id,
  name: body.name,
  email: body.email,
  unconfirmed_email: await unconfirmedOf(id, context),
  roles: rolesIn(body.memberships, workspace),
});
