import { listResources, streamTable, type Configuration, type ResourceKind } from '@carillon/domain/configuration';
import { CarillonError, similarTo } from '@carillon/kernel';
import type { VisibleScope } from './access/visible-scope.ts';

const MAX_NAMED = 12;

/** Suggests an existing name: the most similar one, else all known names. */
export function insteadOf(name: string, known: readonly string[]): string {
  const all = [...new Set(known)].toSorted();
  const meant = similarTo(name, all);
  if (meant !== null) return `did you mean ${meant}?`;
  if (all.length === 0) return 'there is none yet';
  return `known: ${all.slice(0, MAX_NAMED).join(', ')}${all.length > MAX_NAMED ? ', …' : ''}`;
}

/** Refusal of a filter by a name that nothing has: an empty list would look as if nothing had happened. */
export const unknownFilter = (field: string, what: string, name: string, known: readonly string[]): CarillonError =>
  new CarillonError('invalid_request', `${field}: there is no ${what} ${name}; ${insteadOf(name, known)}`, {
    pointer: `/${field}`,
  });

/** The names of all things of a kind in a workspace. */
export type NamesIn = (workspace: string) => readonly string[];

export const namesOf =
  (configuration: Configuration, kind: ResourceKind): NamesIn =>
  (workspace) =>
    listResources(configuration, kind, workspace).map(({ ref }) => ref.name);

/** Rules as people name them: `notification.rule`. */
export const rulesOf =
  (configuration: Configuration): NamesIn =>
  (workspace) =>
    listResources(configuration, 'notification', workspace).flatMap(({ ref, body }) =>
      Object.keys(body.rules).map((rule) => `${ref.name}.${rule}`),
    );

/** Streams by their EVENT_PATH. */
export const streamsOf =
  (configuration: Configuration): NamesIn =>
  (workspace) =>
    [...streamTable(configuration).streams.values()]
      .filter((stream) => stream.workspace === workspace)
      .map(({ path }) => path);

/** Streams whose events rules read, by their path: also those of cohorts. */
export const streamsOfRules =
  (configuration: Configuration): NamesIn =>
  (workspace) => {
    const cohorts = [...streamTable(configuration).rules.keys()].filter((path) => path.startsWith(`${workspace}/`));
    return [...new Set([...streamsOf(configuration)(workspace), ...cohorts])];
  };

/**
 * The workspace in sight that has something of this name. Throws `not_found` with the nearest name where none has it, and
 * `invalid_request` where several have.
 */
export function placeOf(what: string, name: string, sight: VisibleScope, names: NamesIn): string {
  const found = sight.names.filter((workspace) => names(workspace).includes(name));
  const [workspace] = found;
  if (workspace === undefined) {
    const where = sight.workspace === undefined ? '' : ` in workspace ${sight.workspace}`;
    throw new CarillonError(
      'not_found',
      `there is no ${what} ${name}${where}; ${insteadOf(name, sight.names.flatMap(names))}`,
    );
  }
  if (found.length > 1) {
    throw new CarillonError('invalid_request', `${what} ${name} is in ${found.join(' and ')}: name the workspace`);
  }
  return workspace;
}
