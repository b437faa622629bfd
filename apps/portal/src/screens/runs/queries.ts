import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import type { Page } from '../../api/pages.ts';

export type Run = Schemas['Run'];
export type RunRow = Schemas['RunRow'];

export const RUNS = '/v1/workspaces/{workspace}/runs';
/** Newest runs of a workspace among which the comparison of its drafts is looked for. */
const NEWEST = 20;
const POLL_INTERVAL_MS = 1_000;

const isUnderWay = (run: Run | undefined): boolean => run !== undefined && run.ended_at === null;
const comparesDrafts = ({ changes }: Run): boolean => changes.some(({ revision }) => revision !== null);

/** The newest comparison of drafts of a workspace, or null. It is read again every second until it has ended. */
export const draftRunQuery = (workspace: string) =>
  queryOptions({
    queryKey: [RUNS, workspace, 'drafts'],
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET(RUNS, { params: { path: { workspace }, query: { limit: NEWEST } }, signal }),
      );
      return items.find(comparesDrafts) ?? null;
    },
    refetchInterval: ({ state: { data } }) => (isUnderWay(data ?? undefined) ? POLL_INTERVAL_MS : false),
  });

const RUN = '/v1/workspaces/{workspace}/runs/{id}';
const ROWS = '/v1/workspaces/{workspace}/runs/{id}/rows';
/** Rows and runs of one page. */
export const PAGE_SIZE = 50;

export const loadRuns =
  (workspace: string) =>
  (cursor: string | null, signal: AbortSignal): Promise<Page<Run>> =>
    bodyOf(
      api.GET(RUNS, {
        params: { path: { workspace }, query: { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) } },
        signal,
      }),
    );

/** A run. It is read again every second until it has ended. */
export const runQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [RUN, workspace, id],
    queryFn: ({ signal }) => bodyOf(api.GET(RUN, { params: { path: { workspace, id } }, signal })),
    refetchInterval: ({ state: { data } }) => (isUnderWay(data) ? POLL_INTERVAL_MS : false),
  });

/** Words of the address. The server names a word that it does not know. */
export type RowFilter = {
  readonly difference?: string;
  readonly slot?: string;
  readonly rule?: string;
  readonly day?: string;
};

export const rowsKey = (workspace: string, id: string, filter: RowFilter): readonly unknown[] => [
  ROWS,
  workspace,
  id,
  filter,
];
export const loadRows =
  (workspace: string, id: string, filter: RowFilter) =>
  (cursor: string | null, signal: AbortSignal): Promise<Page<RunRow>> => {
    type Words = RowFilter & { readonly difference?: RunRow['difference']; readonly slot?: RunRow['slot_state'] };
    const query = { ...(filter as Words), limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
    return bodyOf(api.GET(ROWS, { params: { path: { workspace, id }, query }, signal }));
  };

/** Rows that the review of drafts shows. */
const FIRST_ROWS = 5;
/** The first rows of a run. Each read has an entry in the audit, so they are read once. */
export const firstRowsQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [ROWS, workspace, id, 'first'],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(ROWS, { params: { path: { workspace, id }, query: { limit: FIRST_ROWS } }, signal })),
    staleTime: Infinity,
  });

export type RunFinding = Schemas['RunFinding'];
export const FINDINGS = '/v1/workspaces/{workspace}/runs/{id}/findings';
/** Findings of a verification. Each page that is read has an entry in the audit. */
export const loadFindings =
  (workspace: string, id: string) =>
  (cursor: string | null, signal: AbortSignal): Promise<Page<RunFinding>> => {
    const query = { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
    return bodyOf(api.GET(FINDINGS, { params: { path: { workspace, id }, query }, signal }));
  };

export type RowContent = Schemas['RunRowContent'];
export type RowSide = Schemas['RunRowSide'];
const ROW = '/v1/workspaces/{workspace}/runs/{id}/rows/{slot}';

/** The content of a row on both sides. Each call has an entry in the audit, so it is read once. */
export const rowContentQuery = (workspace: string, id: string, slot: string) =>
  queryOptions({
    queryKey: [ROW, workspace, id, slot],
    queryFn: ({ signal }) => bodyOf(api.GET(ROW, { params: { path: { workspace, id, slot } }, signal })),
    staleTime: Infinity,
  });

/** Starts a comparison of the drafts of a workspace with its published configuration, over the last 30 days. */
export const compareDrafts = (workspace: string): Promise<Run> =>
  bodyOf(api.POST(RUNS, { params: { path: { workspace } }, body: { kind: 'compare', drafts: true } }));

/** The body that compares a version of the configuration with the version before it, over the last 30 days. */
export const versionBody = (number: number) => ({ kind: 'compare' as const, before: number - 1, after: number });
export const compareVersion = (workspace: string, number: number): Promise<Run> =>
  bodyOf(api.POST(RUNS, { params: { path: { workspace } }, body: versionBody(number) }));

/** The body that searches the whole log for a text. */
export const searchBody = (text: string) => ({ kind: 'find' as const, text });
export const startSearch = (workspace: string, text: string): Promise<Run> =>
  bodyOf(api.POST(RUNS, { params: { path: { workspace } }, body: searchBody(text) }));

/** Cancels the job of a run. */
export const cancelRun = ({ workspace, job }: Run): Promise<Schemas['Job']> =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/jobs/{id}/cancel', { params: { path: { workspace, id: job } }, body: {} }),
  );
