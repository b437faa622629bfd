import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Permission } from './permission.ts';
import type { Principal } from './principal.ts';

/** Stands for all workspaces visible to the caller. No workspace has this name. */
export const EVERY_WORKSPACE = '-';

/** Workspaces that a request may read. */
export type VisibleScope = {
  /** The single workspace, or undefined for several or all. */
  readonly workspace: string | undefined;
  /** Visible workspaces of the configuration. */
  readonly names: readonly string[];
  /** Returns true if data of this workspace may be shown. Null: data of the deployment. */
  readonly sees: (workspace: string | null) => boolean;
};

export const scopeOfWorkspace = (workspace: string): VisibleScope => ({
  workspace,
  names: [workspace],
  sees: (other) => other === workspace,
});

/**
 * Returns everything a caller with one of these permissions may see. Null if nothing. A permission for the whole
 * deployment also covers data of the deployment and of removed workspaces.
 */
export function wholeScope(
  enough: readonly Permission[],
  principal: Principal,
  known: readonly string[],
): VisibleScope | null {
  const may = (workspace: string | null): boolean => enough.some((permission) => principal.may(permission, workspace));
  if (may(null)) return { workspace: undefined, names: known, sees: () => true };
  const names = known.filter(may);
  const [only] = names;
  if (only === undefined) return null;
  return {
    workspace: names.length === 1 ? only : undefined,
    names,
    sees: (name) => name !== null && names.includes(name),
  };
}

const SIGHT = 'sight';

/** Declares the request decorator of the scope. */
export const prepareScopes = (app: FastifyInstance): void => void app.decorateRequest(SIGHT, null);

export const rememberScope = (request: FastifyRequest, sight: VisibleScope): void =>
  request.setDecorator<VisibleScope | null>(SIGHT, sight);

/** Returns the workspaces that a request may read. Throws on routes that declare none. */
export function visibleScopeOf(request: FastifyRequest): VisibleScope {
  const sight = request.getDecorator<VisibleScope | null>(SIGHT);
  if (!sight) throw new Error(`${request.routeOptions.url} declares no workspace to read`);
  return sight;
}

/** Returns the scope of a request, or null on routes without one. */
export const sightIfAny = (request: FastifyRequest): VisibleScope | null =>
  request.getDecorator<VisibleScope | null>(SIGHT);
