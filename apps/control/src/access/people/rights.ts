import type { Actor, PeopleRecord, Role } from '@carillon/domain/people';
import { CarillonError, type Instant } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';
import { PERMISSIONS, ROLES_WITH, SCOPE_PERMISSIONS, type Permission } from '../permission.ts';
import { createDirectory } from './directory.ts';

/** What somebody may; null: in the whole deployment, not in one workspace. */
export type May = (permission: Permission, workspace: string | null) => boolean;
type Ports = Pick<ControlPorts, 'people' | 'clock' | 'ids'>;

/** Tokens that were made one by the other, the last one counted: each is looked up at each use of the last one. */
export const MAX_TOKENS_IN_A_ROW = 5;

const NOTHING: May = () => false;
const EVERYTHING: May = () => true;

/**
 * What an author of before may do now: nothing once they are removed or disabled. What they made for others to use later, an invitation
 * or a token, is worth no more than that.
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

/** What somebody may by their roles. Owners of the deployment may do everything everywhere. */
export const rightsOfPerson =
  (memberships: readonly { readonly workspace: string; readonly role: Role }[], isOwner: boolean): May =>
  (permission, workspace) =>
    isOwner ||
    (workspace !== null &&
      memberships.some((one) => one.workspace === workspace && ROLES_WITH[permission].includes(one.role)));

export const hasExpired = ({ body }: PeopleRecord<'token'>, now: Instant): boolean =>
  body.expiresAt !== null && now >= body.expiresAt;

/**
 * What the scopes of a token allow in its workspaces, as far as whoever made it may do it today: it rests while they may not.
 *
 * @param row How many tokens are looked up by now that were made one by the other.
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

/** How many tokens there are in a row up to this author; 0: somebody who is no token. */
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

/** Whether somebody may give a role: whoever may do all that it allows, and decides about people there. */
export const mayGiveRole = (may: May, role: Role, workspace: string): boolean =>
  may('people', workspace) && permissionsOf(role).every((permission) => may(permission, workspace));

/** Throws `forbidden_role` where somebody would get a role from one who may less. */
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
