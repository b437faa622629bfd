import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from './client.ts';
import { whyNot, type Wanted } from './may.ts';

export type Me = Schemas['Me'];
/** Somebody who is signed in as a person, and not with a token. */
export type Profiled = NonNullable<Me['person']>;

/** In milliseconds: a role that was changed shows on the screens within it; the server goes by the new one at once. */
const ASKED_EVERY = 60_000;

/** Who is signed in, and what they may do where. */
export const meQuery = queryOptions({
  queryKey: ['/v1/me'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v1/me', { signal })),
  staleTime: ASKED_EVERY,
  refetchInterval: ASKED_EVERY,
});

/**
 * Why whoever is signed in may not do something: the reason for `<Button off={…}>`, null where they may. `workspace`: null for what
 * belongs to the deployment alone, `-` for any. Until it is known it says null: the server decides anyway.
 */
export function useMay(wanted: Wanted, workspace: string | null): string | null {
  const { data } = useQuery(meQuery);
  return data === undefined ? null : whyNot(data, wanted, workspace);
}

/** The same of several workspaces: why not in the first of them where they may not; null where they may in all. */
export function useMayInAll(wanted: Wanted, workspaces: readonly string[]): string | null {
  const { data } = useQuery(meQuery);
  if (data === undefined) return null;
  for (const workspace of workspaces) {
    const why = whyNot(data, wanted, workspace);
    if (why !== null) return why;
  }
  return null;
}

/** Returns true once the user's permissions are known. Before, nothing they may not see is requested. */
export const useIsMeKnown = (): boolean => useQuery(meQuery).data !== undefined;

const NAMES = '/v1/names';

/** Returns a function from the id of a person to "you", the name, or the id until the name is loaded. `shown`: all ids on the page. */
export function useWho(...shown: readonly (string | null)[]): (by: string | null) => string {
  const { data } = useQuery(meQuery);
  const own = data?.person?.id;
  const ids = [...new Set(shown)].filter((by) => by !== null && by !== own && by.startsWith('per_')) as string[];
  const { data: named } = useQuery({
    queryKey: [NAMES, ids],
    queryFn: ({ signal }) => bodyOf(api.GET(NAMES, { params: { query: { id: ids } }, signal })),
    enabled: ids.length > 0,
    staleTime: ASKED_EVERY,
  });
  const names = new Map(named?.people.map(({ id, name }) => [id, name]));
  return (by) => (by === null ? 'somebody' : by === own ? 'you' : (names.get(by) ?? by));
}
