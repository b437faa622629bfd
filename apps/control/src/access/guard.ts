import { CarillonError } from '@carillon/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { setTimeout as pause } from 'node:timers/promises';
import type { Access } from './access.ts';
import { demandPermissions, ROLES_WITH, type Permission } from './permission.ts';
import { refuseForgery } from './origin.ts';
import type { PrincipalLimit } from './principal-rates.ts';
import type { ProcessorBudget } from './processor-budget.ts';
import { preparePrincipals, rememberPrincipal, type Principal } from './principal.ts';
import { EVERY_WORKSPACE, prepareScopes, rememberScope, scopeOfWorkspace, wholeScope } from './visible-scope.ts';
import { demandAudit } from '../audit/declaration.ts';
import { insteadOf } from '../names.ts';

/**
 * Milliseconds before a request beyond a limit is refused. A client that ignores `Retry-After` would otherwise keep the process busy
 * with refusals: 2,800 per second over eight connections were measured.
 */
const REFUSAL_DELAY_MS = 100;

/** Limits per principal: number of requests, and processor time. */
export type PrincipalLimits = {
  readonly requests: PrincipalLimit;
  readonly processor: Pick<ProcessorBudget, 'demand'>;
};

/** The existing workspaces. */
export type KnownWorkspaces = {
  known(): readonly string[];
  /** Returns them after reading the newest configuration. */
  newest(): Promise<readonly string[]>;
};

/** Headers of every response of the port, including refusals. Pages and mails set their own policy. */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  // Browsers resolve hosts of links in advance, which for a mail would tell its sender who reads it.
  'x-dns-prefetch-control': 'off',
  'cache-control': 'no-store',
} as const;

/**
 * Admits a request if its principal has the route's permission. Routes added later without a permission are refused.
 * The check uses the matched route, because an address can be spelled in ways a prefix misses (`/%761/status`). Refuses
 * an unknown workspace too, with a similar name as a hint.
 */
export function guard(
  app: FastifyInstance,
  access: Access,
  workspaces: KnownWorkspaces,
  limits: PrincipalLimits,
): void {
  demandPermissions(app);
  demandAudit(app);
  preparePrincipals(app);
  prepareScopes(app);
  app.addHook('onRequest', async (request) => {
    const { permission, across = false, newWorkspace = false } = request.routeOptions.config;
    // Only the server's own health routes, registered earlier, have none.
    if (permission === undefined || permission === 'anybody') return;
    const principal = await access.who(request);
    if (!principal) {
      throw new CarillonError(
        'unauthorized',
        'send Authorization: Bearer with a service token or with the token in the file owner-token of the data folder, or sign in to the portal',
      );
    }
    rememberPrincipal(request, principal);
    // A refusal of a known principal is audited, so the rate limit comes first.
    try {
      limits.requests(principal, request);
      limits.processor.demand(principal, request);
    } catch (error) {
      await pause(REFUSAL_DELAY_MS);
      throw error;
    }
    refuseForgery(request, principal);
    if (permission === 'self') return;
    const enough = typeof permission === 'string' ? [permission] : permission;
    const workspace = workspaceOf(request);
    if (across && (workspace === null || workspace === EVERY_WORKSPACE)) {
      const sight = wholeScope(enough, principal, workspaces.known());
      if (!sight) throw lacking(enough);
      rememberScope(request, sight);
    } else {
      if (!hasOneOf(enough, principal, workspace)) throw lacking(enough);
      if (workspace !== null && !newWorkspace) {
        await mustBeThere(workspace, workspaces, (named) => hasOneOf(enough, principal, named));
      }
      if (workspace !== null) rememberScope(request, scopeOfWorkspace(workspace));
    }
  });
}

const hasOneOf = (enough: readonly Permission[], principal: Principal, workspace: string | null): boolean =>
  enough.some((permission) => principal.may(permission, workspace));

/** `may` selects the workspaces that the caller may see. */
async function mustBeThere(
  workspace: string,
  workspaces: KnownWorkspaces,
  may: (workspace: string) => boolean,
): Promise<void> {
  if (workspaces.known().includes(workspace)) return;
  const known = await workspaces.newest();
  if (known.includes(workspace)) return;
  const named = known.filter(may);
  if (workspace === EVERY_WORKSPACE) {
    throw new CarillonError('invalid_request', `this works in one workspace: name it (${named.join(', ')})`);
  }
  const hint = known.length === 0 ? 'npx carillon apply -f DIR makes one' : insteadOf(workspace, named);
  throw new CarillonError('not_found', `there is no workspace ${workspace}; ${hint}`);
}

/** Returns the workspace in the address, or null for requests about the deployment. */
function workspaceOf({ params }: FastifyRequest): string | null {
  const { workspace } = params as { readonly workspace?: string };
  return workspace ?? null;
}

/** Returns the refusal of a principal without any of these permissions. */
export function lacking(enough: readonly Permission[]): CarillonError {
  const roles = [...new Set(enough.flatMap((permission) => ROLES_WITH[permission]))].join(', ');
  return new CarillonError('forbidden_role', `this needs the permission ${enough.join(' or ')}, which have: ${roles}`);
}
