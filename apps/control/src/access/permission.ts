import type { Role, TokenScope } from '@carillon/domain/people';
import type { ErrorCode } from '@carillon/kernel';
import type { FastifyInstance } from 'fastify';

/** What somebody may do. */
export const PERMISSIONS = ['read', 'bodies', 'configure', 'operate', 'people', 'audit'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The same in words, for the documents. */
export const PERMISSION_WORDS: Readonly<Record<Permission, string>> = {
  read: 'see everything but whole addresses, and what events, messages and answers of providers hold',
  bodies: 'see these too',
  configure: 'change how it works, publish, send tests',
  operate:
    'decide about single messages, records and databases: resend, dismiss, redrive, reset, suppressions, opt-outs',
  people: 'decide who may do what; tokens; take backups and exchange the master key, as owner of the deployment',
  audit: 'see who did what, and verify it',
};

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

/**
 * Any one permission of a list is enough. `anybody` needs no credential: sign-in, pages and their files. `self`: every
 * credential is enough, for what is about whoever asks.
 */
export type RoutePermission = Permission | readonly Permission[] | 'self' | 'anybody';

/** Checks of credentials: both who configures an account and who operates it may try it. */
export const CHECKS = ['configure', 'operate'] as const satisfies readonly Permission[];

/** Runs over the log: both who edits rules and who operates may start them. */
export const STARTS_RUNS = ['configure', 'operate'] as const satisfies readonly Permission[];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. The control role does not start with a route that does not say so. */
    readonly permission?: RoutePermission;
    /** Looks through all workspaces that whoever asks may see: where the address has `-` for one, or names none. */
    readonly across?: boolean;
    /** The route may begin a workspace: one that is not there is no mistake. */
    readonly newWorkspace?: boolean;
    /** Refusals of its own, besides those that its permission, parameters and body bring with them. */
    readonly problems?: readonly ErrorCode[];
    /** What its success says besides its body, for the description: headers, or that the file may be asked for as well. */
    readonly answers?: readonly ('etag' | 'location' | 'yaml')[];
  }
}

/** From here on a route without a permission is refused, and with it the start: forgetting it opens nothing. */
export function demandPermissions(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.permission !== undefined) return;
    throw new Error(`the route ${String(method)} ${url} declares no permission: config: { permission: 'read' }`);
  });
}
