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

/** Limits of one principal: number of requests, and processor time of their answers. */
export type PrincipalLimits = {
  readonly requests: PrincipalLimit;
  readonly processor: Pick<ProcessorBudget, 'demand'>;
};

/** The workspaces that there are. */
export type KnownWorkspaces = {
  known(): readonly string[];
  /** The same, once the newest configuration was read. */
  newest(): Promise<readonly string[]>;
};

/** What every answer of the port says, refusals and malformed requests included. Pages and mails have a policy of their own. */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  // A browser looks up the hosts of links before anybody clicks one; for a mail that tells its sender who read it.
  'x-dns-prefetch-control': 'off',
  'cache-control': 'no-store',
} as const;

/**
 * Lets a request through to a route where its principal has the permission that the route declares; routes that are added
 * after this without one are refused. What counts is the route that will answer: an address can be spelled in ways
 * (`/%761/status`) that a prefix misses. A workspace that is not there is refused here too, with the name that was probably meant.
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
    // None have only the routes of the server itself, which were there before the demand: its health.
    if (permission === undefined || permission === 'anybody') return;
    const principal = await access.who(request);
    if (!principal) {
      throw new CarillonError(
        'unauthorized',
        'send Authorization: Bearer with a service token or with the token in the file owner-token of the data folder, or sign in to the portal',
      );
    }
    rememberPrincipal(request, principal);
    // Who is known and refused stands on the audit: nobody fills it with more than they may ask.
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
        await mustBeThere(workspace, workspaces, (one) => hasOneOf(enough, principal, one));
      }
      if (workspace !== null) rememberScope(request, scopeOfWorkspace(workspace));
    }
  });
}

const hasOneOf = (enough: readonly Permission[], principal: Principal, workspace: string | null): boolean =>
  enough.some((one) => principal.may(one, workspace));

/** `may`: those that may be named to whoever asks. */
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

/** The workspace in the address; null: the request is about the deployment. */
function workspaceOf({ params }: FastifyRequest): string | null {
  const { workspace } = params as { readonly workspace?: string };
  return workspace ?? null;
}

/** The refusal of whoever has none of these. */
export function lacking(enough: readonly Permission[]): CarillonError {
  const roles = [...new Set(enough.flatMap((one) => ROLES_WITH[one]))].join(', ');
  return new CarillonError('forbidden_role', `this needs the permission ${enough.join(' or ')}, which have: ${roles}`);
}
