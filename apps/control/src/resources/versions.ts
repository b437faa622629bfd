import { referencesOf, resourceFiles, writtenBody, isWritten, type WrittenKind } from '@carillon/configuration';
import type { ActorBody, PublicationBody, ResourceDiffBody, VersionBody } from '@carillon/contracts';
import {
  differencesOf,
  findResource,
  resourceKey,
  type Configuration,
  type NotificationBody,
  type Resource,
  type ResourceRef,
} from '@carillon/domain/configuration';
import type { Actor } from '@carillon/domain/people';
import { CarillonError } from '@carillon/kernel';
import type { ConfigurationHistory, Publication, ResourceState } from '@carillon/stages';
import type { ResourcesRequest } from './plan-resources.ts';

type Show = (actor: Actor) => Promise<ActorBody>;

const factsOf = async ({ number, at, by }: Publication, show: Show) => ({
  number,
  at,
  by: await show(by.actor),
  origin: by.origin,
  message: by.message,
  request_id: by.requestId,
});

/** Returns the action of a state: a body after none is a creation. */
function actionOf(states: readonly ResourceState[], at: number): VersionBody['action'] {
  if (states[at]?.resource === null) return 'delete';
  return at === 0 || states[at - 1]?.resource === null ? 'create' : 'update';
}

/** States of a resource, newest first, of numbers below `before`. */
export async function listVersions(
  states: readonly ResourceState[],
  before: number,
  limit: number,
  show: Show,
): Promise<{ items: VersionBody[]; next: string | null }> {
  const all = states
    .map((state, at) => ({ ...state, action: actionOf(states, at) }))
    .filter(({ publication }) => publication.number < before)
    .toReversed();
  const items: VersionBody[] = [];
  for (const { publication, resource, action } of all.slice(0, limit)) {
    items.push({ ...(await factsOf(publication, show)), action, version: resource?.version ?? null });
  }
  return { items, next: all.length > limit ? String(items.at(-1)?.number) : null };
}

/** Lists the publications in a workspace, newest first. Null lists those in no workspace. */
export async function listPublications(
  history: ConfigurationHistory,
  workspace: string,
  before: number,
  limit: number,
  show: Show,
): Promise<{ items: PublicationBody[]; next: string | null }> {
  const all = history
    .publications()
    .filter(({ number, refs }) => number < before && refs.some((ref) => ref.workspace === workspace))
    .toReversed();
  const items: PublicationBody[] = [];
  for (const publication of all.slice(0, limit)) {
    const changes = publication.refs
      .filter((ref) => ref.workspace === workspace)
      .map((ref) => {
        const states = history.statesOf(ref);
        const at = states.findIndex((state) => state.publication === publication);
        return { kind: ref.kind, name: ref.name, action: actionOf(states, at) };
      });
    items.push({ ...(await factsOf(publication, show)), changes });
  }
  return { items, next: all.length > limit ? String(items.at(-1)?.number) : null };
}

/** The resource as the configuration of a number had it; undefined where that had none of this name. */
export const resourceAt = (states: readonly ResourceState[], number: number): Resource | null | undefined =>
  states.findLast(({ publication }) => publication.number <= number)?.resource;

const textOf = (value: unknown): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);

/** Returns the differences between two states of a resource, by field and file. Null: the resource does not exist. */
export function diffResources(
  before: Resource | null,
  after: Resource | null,
): Pick<ResourceDiffBody, 'fields' | 'files'> {
  const [from, to] = [before, after].map((one) => (one && isWritten(one) ? one : null));
  const [old, now] = [from, to].map((one) => (one ? resourceFiles(one) : new Map<string, string>()));
  const paths = [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])].toSorted();
  return {
    fields: differencesOf(from ? writtenBody(from) : {}, to ? writtenBody(to) : {}).map((difference) => ({
      path: difference.path,
      before: textOf(difference.before),
      after: textOf(difference.after),
    })),
    files: paths
      .map((path) => ({ path, before: old?.get(path) ?? null, after: now?.get(path) ?? null }))
      .filter((file) => file.before !== file.after),
  };
}

export type RollbackWish = {
  readonly ref: ResourceRef<WrittenKind>;
  readonly to: Resource;
  readonly at: Configuration;
};

/** Returns resources that an old version refers to, directly or indirectly, and that no longer exist. */
export function goneReferences({ to, at }: RollbackWish, current: Configuration): readonly Resource<WrittenKind>[] {
  const gone = new Map<string, Resource<WrittenKind>>();
  const follow = (resource: Resource): void => {
    if (!isWritten(resource)) return;
    for (const { kind, workspace, name } of referencesOf(resource, at)) {
      const then = findResource(at, kind, workspace, name);
      if (!then || !isWritten(then) || findResource(current, kind, workspace, name)) continue;
      if (gone.has(resourceKey(then.ref))) continue;
      gone.set(resourceKey(then.ref), then);
      follow(then);
    }
  };
  follow(to);
  return [...gone.values()];
}

/** Returns the changes that restore the body of a version, with the current ids and paths. */
export function rollbackRequest(wish: RollbackWish, withReferences: boolean, current: Configuration): ResourcesRequest {
  const { ref, to } = wish;
  const also = withReferences ? goneReferences(wish, current) : [];
  return {
    put: [
      { ref, body: withIdsOfToday(ref, to, current) },
      ...also.map((resource) => ({ ref: resource.ref, body: writtenBody(resource) })),
    ],
    remove: [],
  };
}

/**
 * Returns the old body with current ids, so that people are not notified again: the notification keeps its id, and
 * existing rules keep id and stream.
 */
function withIdsOfToday(ref: ResourceRef, to: Resource, current: Configuration): unknown {
  if (!isWritten(to)) throw new CarillonError('invalid_request', 'resources of this kind have no versions');
  const then = writtenBody(to);
  const today = findResource(current, 'notification', ref.workspace, ref.name)?.body;
  if (ref.kind !== 'notification' || !today) return then;
  const body = then as NotificationBody;
  const rules = Object.entries(body.rules).map(([name, rule]) => {
    const now = Object.hasOwn(today.rules, name) ? today.rules[name] : undefined;
    if (!now) return [name, rule] as const;
    const { id: _id, path: _path, ...rest } = rule;
    // A rule of a shared stream has no address of its own, then or now.
    const path = rule.stream === undefined ? (now.path ?? rule.path) : undefined;
    return [
      name,
      { ...rest, ...(now.id !== undefined && { id: now.id }), ...(path !== undefined && { path }) },
    ] as const;
  });
  return { ...body, ...(today.id !== undefined && { id: today.id }), rules: Object.fromEntries(rules) };
}
