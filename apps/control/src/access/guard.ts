import { CarillonError } from '@carillon/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Access } from './access.ts';
import { demandPermissions, ROLES_WITH, type Permission } from './permission.ts';
import { preparePrincipals, rememberPrincipal, type Principal } from './principal.ts';

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
 * (`/%761/status`) that a prefix misses.
 */
export function guard(app: FastifyInstance, access: Access): void {
  demandPermissions(app);
  preparePrincipals(app);
  app.addHook('onRequest', async (request) => {
    const { permission } = request.routeOptions.config;
    // None have only the routes of the server itself, which were there before the demand: its health.
    if (permission === undefined || permission === 'anybody') return;
    const principal = access.who(request);
    if (!principal) {
      throw new CarillonError(
        'unauthorized',
        'send Authorization: Bearer with the token in the file owner-token of the data folder, or sign in to the portal',
      );
    }
    const enough = typeof permission === 'string' ? [permission] : permission;
    if (!hasOneOf(enough, principal, workspaceOf(request))) throw lacking(enough);
    rememberPrincipal(request, principal);
  });
}

const hasOneOf = (enough: readonly Permission[], principal: Principal, workspace: string | null): boolean =>
  enough.some((one) => principal.may(one, workspace));

/** The workspace in the address; null: the request is about the deployment. */
function workspaceOf({ params }: FastifyRequest): string | null {
  const { workspace } = params as { readonly workspace?: string };
  return workspace ?? null;
}

function lacking(enough: readonly Permission[]): CarillonError {
  const roles = [...new Set(enough.flatMap((one) => ROLES_WITH[one]))].join(', ');
  return new CarillonError('forbidden_role', `this needs the permission ${enough.join(' or ')}, which have: ${roles}`);
}
