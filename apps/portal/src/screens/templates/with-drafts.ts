import { useQueries, useQuery } from '@tanstack/react-query';
import { readDraft, segmentOf } from '../../api/draft-calls.ts';
import { draftsQuery, type DraftFacts } from '../drafts/queries.ts';

type Named = { readonly name: string };
type Facts = Pick<DraftFacts, 'kind' | 'name' | 'action'>;
/** A resource as the API lists it, or as its draft has it. */
export type Resourceful = Named & {
  readonly body: unknown;
  /** Whether it is a draft that cannot be published, nor tried. */
  readonly hasFaults?: boolean;
};

/** Drafts of a kind whose bodies are read: after a promotion a workspace may have hundreds. */
const MAX_READ_DRAFTS = 30;

/** Names of published resources and of new drafts, without those that a draft removes. */
export function namesWithDrafts(
  published: readonly Named[],
  drafts: readonly Facts[],
  kind: string,
): readonly { readonly name: string; readonly isNew: boolean }[] {
  const own = drafts.filter((draft) => draft.kind === kind);
  const removed = new Set(own.filter(({ action }) => action === 'delete').map(({ name }) => name));
  const known = new Set(published.map(({ name }) => name));
  const created = own.filter(({ name, action }) => action !== 'delete' && !known.has(name));
  return [
    ...[...known].filter((name) => !removed.has(name)).map((name) => ({ name, isNew: false })),
    ...created.map(({ name }) => ({ name, isNew: true })),
  ];
}

/** The published resources with drafts in their place. A draft without a body removes its resource. */
export function overlaid(published: readonly Resourceful[], drafts: readonly Resourceful[]): readonly Resourceful[] {
  const bodies = new Map(drafts.map((draft) => [draft.name, draft]));
  const known = new Set(published.map(({ name }) => name));
  return [
    ...published.map((resource) => bodies.get(resource.name) ?? resource),
    ...drafts.filter(({ name }) => !known.has(name)),
  ].filter(({ body }) => body !== null);
}

/** The resources of a kind as they are once the drafts of the workspace are published. */
export function useWithDrafts(
  workspace: string,
  kind: 'notification' | 'template',
  published: readonly Resourceful[],
): readonly Resourceful[] {
  const { data } = useQuery(draftsQuery(workspace));
  const own = (data?.items ?? []).filter((draft) => draft.kind === kind).slice(0, MAX_READ_DRAFTS);
  const drafts = useQueries({
    queries: own.map(({ name, revision }) => ({
      queryKey: ['/v1/workspaces/{workspace}/{kind}/{name}/draft', workspace, kind, name, revision],
      queryFn: () => readDraft({ kind: segmentOf(kind), workspace, name }),
      staleTime: Infinity,
    })),
    combine: (results) =>
      results.flatMap(({ data: draft }) =>
        draft ? [{ name: draft.name, body: draft.body, hasFaults: draft.faults.length > 0 }] : [],
      ),
  });
  return overlaid(published, drafts);
}
