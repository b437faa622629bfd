import type { Schemas } from './client.ts';

/** Permissions of the caller, named as in `GET /v1/me`. */
export type Permission = 'read' | 'bodies' | 'configure' | 'operate' | 'people' | 'audit';

/** All workspaces together, as in the addresses of lists. */
const EVERY = '-';

type Me = Pick<Schemas['Me'], 'owner' | 'permissions' | 'workspaces' | 'roles_with'>;

/** Several permissions: any one of them is enough. */
export type Wanted = Permission | readonly Permission[];

const asList = (wanted: Wanted): readonly Permission[] => (typeof wanted === 'string' ? [wanted] : wanted);

/** `owners, editors and operators` */
function allOf(roles: readonly string[]): string {
  const names = roles.map((role) => `${role}s`);
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '');
}

/**
 * Why somebody may not do something, in a sentence that says who can; null where they may. `workspace`: null for what belongs to
 * the deployment alone; `-` for any that they see.
 */
export function whyNot(me: Me, wanted: Wanted, workspace: string | null): string | null {
  const permissions = asList(wanted);
  const has = (given: readonly string[]): boolean => permissions.some((one) => given.includes(one));
  const places = me.workspaces.filter((one) => workspace === EVERY || one.workspace === workspace);
  if (workspace === null ? has(me.permissions) : places.some((one) => has(one.permissions))) return null;
  if (workspace === null) {
    return permissions.includes('read')
      ? 'Only owners of the deployment can see this.'
      : 'Only owners of the deployment can do this.';
  }
  const roles = me.roles_with.filter(({ permission }) => permissions.some((one) => one === permission));
  const names = [...new Set(roles.flatMap((one) => one.roles))];
  const where = workspace === EVERY ? 'a workspace' : `the workspace ${workspace}`;
  return `Only ${allOf(names)} of ${where} can do this.`;
}
