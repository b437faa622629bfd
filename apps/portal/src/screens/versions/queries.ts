import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { readPublished, segmentOf } from '../../api/draft-calls.ts';
import type { Call } from '../../ui/curl-words.ts';

export type Publication = Schemas['Publication'];
export type Change = Publication['changes'][number];

export const PUBLICATIONS = '/v1/workspaces/{workspace}/versions';
/** In milliseconds: how soon the list tells what others published. */
const LOOKED_EVERY = 15_000;
const PAGE = 50;

/** Everything that was published in a workspace, newest first, page by page. */
export const publicationsQuery = (workspace: string) =>
  infiniteQueryOptions({
    queryKey: [PUBLICATIONS, workspace],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET(PUBLICATIONS, {
          params: { path: { workspace }, query: { limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: LOOKED_EVERY,
  });

type DiffPath = '/v1/workspaces/{workspace}/notifications/{name}/diff';
type RollbackPath = '/v1/workspaces/{workspace}/notifications/{name}/rollback';
// The addresses of all kinds have one shape; the workspace's own settings have no name.
const placeOf = (kind: string): string =>
  segmentOf(kind) === 'workspace'
    ? '/v1/workspaces/{workspace}/settings'
    : `/v1/workspaces/{workspace}/${segmentOf(kind)}/{name}`;

/** What a publication changed in one resource. */
export const changeQuery = (workspace: string, { kind, name }: Change, number: number) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/{kind}/{name}/diff', workspace, kind, name, number],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET(`${placeOf(kind)}/diff` as DiffPath, {
          params: { path: { workspace, name }, query: { from: number - 1, to: number } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });

export type Wish = Change & {
  readonly workspace: string;
  /** Number of the configuration whose body is to count again. */
  readonly number: number;
  readonly withReferences: boolean;
};

/** A resource that is changed all the while is no longer waited for. */
const TRIES = 5;

async function planned({ workspace, kind, name, number, withReferences }: Wish, signal: AbortSignal) {
  const title = `${kind.replace('_', ' ')} ${name === '' ? workspace : `${workspace}/${name}`}`;
  for (let tries = 1; ; tries += 1) {
    const plan = await bodyOf(
      api.POST(`${placeOf(kind)}/rollback` as RollbackPath, {
        params: { path: { workspace, name } },
        body: { number, with_references: withReferences, check_only: true },
        signal,
      }),
    );
    const isGone = plan.changes.some(
      ({ resource, action }) => action === 'create' && resource.toLowerCase() === title.toLowerCase(),
    );
    // What cannot be published needs no number.
    if (plan.faults.length > 0) return { current: null, plan };
    // What is not there is not asked for: a browser complains of each such answer.
    const current = isGone ? null : await readPublished({ kind: segmentOf(kind), workspace, name }, signal);
    const isJudged = current === null || current.number <= plan.number;
    if (isJudged || tries === TRIES) return { current: current?.number ?? null, plan };
  }
}

/** What taking a resource back would do, and the number of the resource that this is judged by; null: there is none now. */
export const rollbackQuery = (wish: Wish) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/{kind}/{name}/rollback', wish],
    queryFn: ({ signal }) => planned(wish, signal),
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  });

/** Publishes that body again. Throws a Refusal with status 412 where the resource was changed since `current` was read. */
export function rollBack(
  { workspace, kind, name, number, withReferences }: Wish,
  current: number | null,
  message: string,
) {
  return bodyOf(
    api.POST(`${placeOf(kind)}/rollback` as RollbackPath, {
      params: { path: { workspace, name } },
      headers: seen(current),
      body: rollbackBody({ number, withReferences }, message),
    }),
  );
}

const seen = (current: number | null) => (current === null ? { 'if-none-match': '*' } : { 'if-match': `"${current}"` });
const rollbackBody = ({ number, withReferences }: Pick<Wish, 'number' | 'withReferences'>, message: string) => ({
  number,
  with_references: withReferences,
  check_only: false,
  ...(message.trim() !== '' && { message: message.trim() }),
});

/** The same for a shell. */
export function rollbackCall(wish: Wish, current: number | null, message: string): Call {
  const place = placeOf(wish.kind).replace('{workspace}', wish.workspace).replace('{name}', wish.name);
  return { method: 'POST', path: `${place}/rollback`, headers: seen(current), body: rollbackBody(wish, message) };
}

const WITH_BODY: ReadonlySet<string> = new Set([
  'notification',
  'template',
  'layout',
  'partial',
  'stream',
  'integration',
  'account',
  'jwt_provider',
  'workspace',
]);
/** Whether there is something to show and to take back: a key or a secret has no body that anybody may see. */
export const hasBody = ({ kind }: Change): boolean => WITH_BODY.has(kind);
