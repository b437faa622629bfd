import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Call } from '../../ui/curl-words.ts';

export type Source = Schemas['Source'];
export type DatabaseTable = Schemas['DatabaseTables']['items'][number];
export type KafkaTopic = Schemas['KafkaTopics']['items'][number];
/** What a database or a Kafka cluster lists, or why it could not be read. */
export type Listing<Item> = {
  readonly items: readonly Item[];
  readonly problem: Schemas['DatabaseTables']['problem'];
};

const SOURCES = '/v1/workspaces/{workspace}/sources';
/** Milliseconds between two reads of the sources while a page shows them. */
const SHOWN_EVERY = 5_000;

/** Sources of a workspace, or of all, with their states. */
export const sourcesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [SOURCES, workspace],
    queryFn: ({ signal }) => bodyOf(api.GET(SOURCES, { params: { path: { workspace } }, signal })),
    refetchInterval: SHOWN_EVERY,
  });

const PAGE_SIZE = 500;
type PageQuery = { readonly limit: number; readonly drafts: 'true' | 'false'; readonly cursor?: string };

async function readPages<Item>(
  hasDraft: boolean,
  readPage: (query: PageQuery) => Promise<Listing<Item> & { readonly next: string | null }>,
): Promise<Listing<Item>> {
  const items: Item[] = [];
  for (let cursor: string | null = null; ;) {
    const drafts = hasDraft ? 'true' : 'false';
    const page = await readPage({ limit: PAGE_SIZE, drafts, ...(cursor !== null && { cursor }) });
    items.push(...page.items);
    cursor = page.next;
    if (cursor === null) return { items, problem: page.problem };
  }
}

/** Reads all tables of the database behind an integration. It connects to the database. */
export const readTables = (workspace: string, name: string, hasDraft: boolean): Promise<Listing<DatabaseTable>> =>
  readPages(hasDraft, (query) =>
    bodyOf(
      api.GET('/v1/workspaces/{workspace}/integrations/{name}/tables', {
        params: { path: { workspace, name }, query },
      }),
    ),
  );

/** Reads all topics of the Kafka cluster behind an integration. It connects to the cluster. */
export const readTopics = (workspace: string, name: string, hasDraft: boolean): Promise<Listing<KafkaTopic>> =>
  readPages(hasDraft, (query) =>
    bodyOf(
      api.GET('/v1/workspaces/{workspace}/integrations/{name}/topics', {
        params: { path: { workspace, name }, query },
      }),
    ),
  );

/** Tables behind a published integration. They stay fresh for five minutes, because each read connects to the database. */
export const tablesQuery = (workspace: string, name: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/integrations/{name}/tables', workspace, name],
    queryFn: () => readTables(workspace, name, false),
    staleTime: 300_000,
    retry: false,
  });

/** Topics behind a published integration, as fresh as its tables would be. */
export const topicsQuery = (workspace: string, name: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/integrations/{name}/topics', workspace, name],
    queryFn: () => readTopics(workspace, name, false),
    staleTime: 300_000,
    retry: false,
  });

export type Reset = {
  readonly reason: string;
  /** Start of the span that was shown. */
  readonly from: string | null;
  /** Where a Kafka source continues. */
  readonly at?: 'oldest' | 'end';
  /** The replication slot is dropped or the database is gone. */
  readonly gone?: boolean;
};

/** Resets a source, and reads its new state. Throws a Refusal with the code `conflict` if the span has changed. */
export async function resetSource(workspace: string, name: string, body: Reset): Promise<void> {
  try {
    await bodyOf(
      api.POST('/v1/workspaces/{workspace}/sources/{name}/reset', { params: { path: { workspace, name } }, body }),
    );
  } finally {
    // The overview of all workspaces lists it too.
    await queryClient.invalidateQueries({ queryKey: [SOURCES] });
  }
}

/** The same call for a shell. */
export const resetCall = (workspace: string, name: string, body: Reset): Call => ({
  method: 'POST',
  path: `/v1/workspaces/${workspace}/sources/${name}/reset`,
  body,
});
