import type { Actor, PeopleRecord, Role } from '@carillon/domain/people';
import { CarillonError, type Instant } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';
import { PERMISSIONS, ROLES_WITH, SCOPE_PERMISSIONS, type Permission } from '../permission.ts';
import { createDirectory } from './directory.ts';

/** Checks a permission. A null workspace means the whole deployment. */
export type May = (permission: Permission, workspace: string | null) => boolean;
type Ports = Pick<ControlPorts, 'people' | 'clock' | 'ids'>;

/** Maximum length of a chain of tokens that were created by tokens. Each use of the last one looks up all. */
export const MAX_TOKENS_IN_A_ROW = 5;

const NOTHING: May = () => false;
const EVERYTHING: May = () => true;

/**
 * Returns the current permissions of an earlier author. None if the author was removed or disabled. Invitations and
 * tokens of the author allow no more than these.
 */
export async function rightsOf(actor: Actor, ports: Ports, row = 0): Promise<May> {
  switch (actor.kind) {
    case 'cli':
    case 'system':
      return EVERYTHING;
    case 'token': {
      const found = await ports.people.find('token', actor.id);
      return found ? tokenMay(found, ports, row) : NOTHING;
    }
    case 'person': {
      const found = await ports.people.find('person', actor.id);
      if (!found || found.body.state !== 'active') return NOTHING;
      const { owners } = await createDirectory(ports).roster();
      return rightsOfPerson(found.body.memberships, owners.includes(actor.id));
    }
  }
}

/** Returns the permissions of a person by their roles. Owners of the deployment have all permissions everywhere. */
export const rightsOfPerson =
  (memberships: readonly { readonly workspace: string; readonly role: Role }[], isOwner: boolean): May =>
  (permission, workspace) =>
    isOwner ||
    (workspace !== null &&
      memberships.some(
        (membership) => membership.workspace === workspace && ROLES_WITH[permission].includes(membership.role),
      ));

export const hasExpired = ({ body }: PeopleRecord<'token'>, now: Instant): boolean =>
  body.expiresAt !== null && now >= body.expiresAt;

/**
 * Returns the permissions of a token: its scopes in its workspaces, limited by the current permissions of its creator.
 * @param row Number of tokens already looked up in this chain.
 */
export async function tokenMay(token: PeopleRecord<'token'>, ports: Ports, row = 0): Promise<May> {
  if (row >= MAX_TOKENS_IN_A_ROW || hasExpired(token, ports.clock.now())) return NOTHING;
  const { scopes, workspaces, by } = token.body;
  const permissions = new Set(scopes.flatMap((scope) => SCOPE_PERMISSIONS[scope]));
  const maker = await rightsOf(by, ports, row + 1);
  return (permission, workspace) =>
    permissions.has(permission) &&
    (workspaces === null || (workspace !== null && workspaces.includes(workspace))) &&
    maker(permission, workspace);
}

/** Returns the length of the token chain of this author. 0 if the author is no token. */
export async function tokensInARow({ kind, id }: Actor, people: Pick<ControlPorts['people'], 'find'>): Promise<number> {
  let row = 0;
  for (let at = kind === 'token' ? id : null; at !== null && row < MAX_TOKENS_IN_A_ROW; row += 1) {
    const maker: Actor | undefined = (await people.find('token', at))?.body.by;
    at = maker?.kind === 'token' ? maker.id : null;
  }
  return row;
}

const permissionsOf = (role: Role): readonly Permission[] =>
  PERMISSIONS.filter((permission) => ROLES_WITH[permission].includes(role));

/** Returns true if a role may be granted: the grantor has all its permissions and manages people there. */
export const mayGiveRole = (may: May, role: Role, workspace: string): boolean =>
  may('people', workspace) && permissionsOf(role).every((permission) => may(permission, workspace));

/** Throws `forbidden_role` if a role exceeds the permissions of its grantor. */
export function refuseHigherRoles(
  by: { may(permission: Permission, workspace: string | null): boolean },
  roles: readonly Role[],
  workspace: string,
): void {
  const refused = roles.find((role) => !mayGiveRole((permission, where) => by.may(permission, where), role, workspace));
  if (refused === undefined) return;
  throw new CarillonError(
    'forbidden_role',
    `you may not give the role ${refused} in workspace ${workspace}: it allows more than your own roles do`,
  );
}
