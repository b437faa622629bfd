import type { Role, TokenScope } from '@carillon/domain/people';
import type { ErrorCode } from '@carillon/kernel';
import type { FastifyInstance } from 'fastify';

/** Permissions of people and tokens. */
export const PERMISSIONS = ['read', 'bodies', 'configure', 'operate', 'people', 'audit'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Descriptions for the docs. */
export const PERMISSION_WORDS: Readonly<Record<Permission, string>> = {
  read: 'see everything except whole addresses and the contents of events, messages and provider answers',
  bodies: 'see these too',
  configure: 'change and publish the configuration, send test messages',
  operate:
    'decide about single messages, records and databases: resend, dismiss, redrive, reset, suppressions, opt-outs',
  people: 'decide who may do what; tokens; take backups and exchange the master key, as owner of the deployment',
  audit: 'see who did what, and verify it',
};

/** Roles with each permission. Owners of the deployment have all permissions everywhere. */
export const ROLES_WITH: Readonly<Record<Permission, readonly Role[]>> = {
  read: ['owner', 'editor', 'operator', 'viewer'],
  bodies: ['owner', 'editor', 'operator'],
  configure: ['owner', 'editor'],
  operate: ['owner', 'operator'],
  people: ['owner'],
  audit: ['owner', 'operator'],
};

/** Permissions of a token scope. Scopes that change things can read their contents; `read` alone sees no bodies. */
export const SCOPE_PERMISSIONS: Readonly<Record<TokenScope, readonly Permission[]>> = {
  read: ['read'],
  configure: ['configure', 'bodies'],
  operate: ['operate', 'bodies', 'audit'],
  people: ['people', 'audit'],
};

/**
 * Required permission of a route; any of a list is enough. `anybody` needs no credential: sign-in, pages and their
 * files. `self` needs any credential, for routes about the caller.
 */
export type RoutePermission = Permission | readonly Permission[] | 'self' | 'anybody';

/** Permissions for credential checks, used by editors and operators. */
export const CHECKS = ['configure', 'operate'] as const satisfies readonly Permission[];

/** Permissions to start runs over the log, used by editors and operators. */
export const STARTS_RUNS = ['configure', 'operate'] as const satisfies readonly Permission[];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Permission of the route. The control role does not start if a route has none. */
    readonly permission?: RoutePermission;
    /** True if the route can cover all workspaces visible to the caller: with `-` as workspace, or without one. */
    readonly across?: boolean;
    /** True if the route may create a workspace, so an unknown one is allowed. */
    readonly newWorkspace?: boolean;
    /** Error codes besides those of permission, parameters and body. */
    readonly problems?: readonly ErrorCode[];
    /** Extras of a successful response for the API description: headers, or a YAML form. */
    readonly answers?: readonly ('etag' | 'location' | 'yaml')[];
  }
}

/** Lets the start fail if a route that is added later declares no permission. */
export function demandPermissions(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.permission !== undefined) return;
    throw new Error(`the route ${String(method)} ${url} declares no permission: config: { permission: 'read' }`);
  });
}
