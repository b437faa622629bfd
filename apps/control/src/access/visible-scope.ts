import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Permission } from './permission.ts';
import type { Principal } from './principal.ts';

/** In the place of a workspace: all that whoever asks may see. No workspace has this name. */
export const EVERY_WORKSPACE = '-';

/** What of the deployment a request may look at. */
export type VisibleScope = {
  /** The one workspace that is looked at; undefined: several, or all. */
  readonly workspace: string | undefined;
  /** Workspaces of the configuration that are in sight. */
  readonly names: readonly string[];
  /** Whether something of this workspace may be shown. Null: of none, which is the deployment's. */
  readonly sees: (workspace: string | null) => boolean;
};

export const scopeOfWorkspace = (workspace: string): VisibleScope => ({
  workspace,
  names: [workspace],
  sees: (one) => one === workspace,
});

/**
 * All that somebody may see who needs one of these permissions; null: nothing. Who has one everywhere sees what belongs to no workspace
 * too, and what is left of workspaces that are gone.
 */
export function wholeScope(
  enough: readonly Permission[],
  principal: Principal,
  known: readonly string[],
): VisibleScope | null {
  const may = (workspace: string | null): boolean => enough.some((one) => principal.may(one, workspace));
  if (may(null)) return { workspace: undefined, names: known, sees: () => true };
  const names = known.filter(may);
  const [only] = names;
  if (only === undefined) return null;
  return {
    workspace: names.length === 1 ? only : undefined,
    names,
    sees: (one) => one !== null && names.includes(one),
  };
}

const SIGHT = 'sight';

/** Makes room for the sight in every request. */
export const prepareScopes = (app: FastifyInstance): void => void app.decorateRequest(SIGHT, null);

export const rememberScope = (request: FastifyRequest, sight: VisibleScope): void =>
  request.setDecorator<VisibleScope | null>(SIGHT, sight);

/** What the request may look at. Throws where the route is neither of one workspace nor of all. */
export function visibleScopeOf(request: FastifyRequest): VisibleScope {
  const sight = request.getDecorator<VisibleScope | null>(SIGHT);
  if (!sight) throw new Error(`${request.routeOptions.url} looks at no workspace`);
  return sight;
}

/** The same; null where the route looks at no workspace. */
export const sightIfAny = (request: FastifyRequest): VisibleScope | null =>
  request.getDecorator<VisibleScope | null>(SIGHT);
