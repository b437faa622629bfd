import type { Role, TokenScope } from '@carillon/domain';
import type { ErrorCode } from '@carillon/kernel';
import type { FastifyInstance } from 'fastify';

/**
 * What somebody may do. `read`: see it, without what events and messages hold. `bodies`: see that too. `configure`: change how the product works, and publish. `operate`: decide about
 * single messages and records. `people`: decide who may do what, and take copies that hold keys. `audit`: see who did what, and verify it.
 */
export const PERMISSIONS = ['read', 'bodies', 'configure', 'operate', 'people', 'audit'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The roles that have a permission. Owners of the deployment have all of them everywhere. */
export const ROLES_WITH: Readonly<Record<Permission, readonly Role[]>> = {
  read: ['owner', 'editor', 'operator', 'viewer'],
  bodies: ['owner', 'editor', 'operator'],
  configure: ['owner', 'editor'],
  operate: ['owner', 'operator'],
  people: ['owner'],
  audit: ['owner', 'operator'],
};

/** What a scope of a service token allows. Whoever changes something sees what it is about; who only reads sees no bodies. */
export const SCOPE_PERMISSIONS: Readonly<Record<TokenScope, readonly Permission[]>> = {
  read: ['read'],
  configure: ['configure', 'bodies'],
  operate: ['operate', 'bodies', 'audit'],
  people: ['people', 'audit'],
};

/** Of a list any one permission is enough. `anybody` needs no credential: sign-in, pages and their files. `self`: every credential is enough, for what is about whoever asks. */
export type RoutePermission = Permission | readonly Permission[] | 'self' | 'anybody';

/** Checks of credentials: both who configures an account and who operates it may try it. */
export const CHECKS = ['configure', 'operate'] as const satisfies readonly Permission[];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. The control role does not start with a route that does not say so. */
    readonly permission?: RoutePermission;
    /** Looks through all workspaces that whoever asks may see: where the address has `-` for one, or names none. */
    readonly across?: boolean;
    /** Of what makes a workspace: one that is not there is no mistake. */
    readonly newWorkspace?: boolean;
    /** Refusals of its own, besides those that its permission, parameters and body bring with them. */
    readonly problems?: readonly ErrorCode[];
  }
}

/** From here on a route without a permission is refused, and with it the start: forgetting it opens nothing. */
export function demandPermissions(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.permission !== undefined) return;
    throw new Error(`the route ${String(method)} ${url} declares no permission: config: { permission: 'read' }`);
  });
}
