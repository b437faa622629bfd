import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Permission } from './permission.ts';
import type { Principal } from './principal.ts';

/** In the place of a workspace: all that whoever asks may see. No workspace has this name. */
export const EVERY_WORKSPACE = '-';

/** What of the deployment a request may look at. */
export type Sight = {
  /** The one workspace that is looked at; undefined: several, or all. */
  readonly workspace: string | undefined;
  /** Workspaces of the configuration that are in sight. */
  readonly names: readonly string[];
  /** Whether something of this workspace may be shown. Null: of none, which is the deployment's. */
  readonly sees: (workspace: string | null) => boolean;
};

export const sightOfOne = (workspace: string): Sight => ({
  workspace,
  names: [workspace],
  sees: (one) => one === workspace,
});

/**
 * All that somebody may see who needs one of these permissions; null: nothing. Who has one everywhere sees what belongs to no workspace
 * too, and what is left of workspaces that are gone.
 */
export function wholeSight(
  enough: readonly Permission[],
  principal: Principal,
  known: readonly string[],
): Sight | null {
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
export const prepareSights = (app: FastifyInstance): void => void app.decorateRequest(SIGHT, null);

export const rememberSight = (request: FastifyRequest, sight: Sight): void =>
  request.setDecorator<Sight | null>(SIGHT, sight);

/** What the request may look at. Throws where the route is neither of one workspace nor of all. */
export function sightOf(request: FastifyRequest): Sight {
  const sight = request.getDecorator<Sight | null>(SIGHT);
  if (!sight) throw new Error(`${request.routeOptions.url} looks at no workspace`);
  return sight;
}

/** The same; null where the route looks at no workspace. */
export const sightIfAny = (request: FastifyRequest): Sight | null => request.getDecorator<Sight | null>(SIGHT);
