import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import type { Stopping } from '../jobs/job-progress.tsx';
import { waitingText } from './missing-text.ts';
import type { Run } from './queries.ts';

export type Missing = Schemas['RunMissing'];
export type SendingJob = Schemas['Job'];

/** What is chosen before a look. */
export type MissingChoice = {
  /** Maximum age of an event, such as `7d`. */
  readonly age: string;
  /** Messages that ended unsent are sent too. */
  readonly withStopped: boolean;
  /** Partners are asked about events whose recipients only they know. */
  readonly withLookups: boolean;
};

const MISSING = '/v1/workspaces/{workspace}/runs/{id}/missing';
const SEND = '/v1/workspaces/{workspace}/runs/{id}/send';
const STOP = '/v1/workspaces/{workspace}/runs/{id}/stop';
export const JOBS = '/v1/workspaces/{workspace}/jobs';
const POLL_INTERVAL_MS = 1_000;

const selectionOf = ({ withLookups, withStopped }: MissingChoice) => ({
  difference: withLookups ? (['added', 'needs_lookup'] as const) : (['added'] as const),
  slot: withStopped ? (['none', 'stopped'] as const) : (['none'] as const),
});

/** Looks at the missing messages of a run. A look that shows names has an entry in the audit, so it is not repeated by itself. */
export const missingQuery = ({ workspace, id }: Run, choice: MissingChoice) =>
  queryOptions({
    queryKey: [MISSING, workspace, id, choice],
    queryFn: ({ signal }) => {
      const { difference, slot } = selectionOf(choice);
      const query = { difference: [...difference], slot: [...slot], max_age: choice.age };
      return bodyOf(api.GET(MISSING, { params: { path: { workspace, id }, query }, signal }));
    },
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });

/** The body that sends what a look found. It names the time of the look and not the age, so that it means the same events. */
export function sendBody({ checksum, count, since }: Missing, choice: MissingChoice, rate: number) {
  const { difference, slot } = selectionOf(choice);
  return { difference: [...difference], slot: [...slot], since, count, checksum, rate };
}

export const sendMissing = ({ workspace, id }: Run, body: ReturnType<typeof sendBody>): Promise<SendingJob> =>
  bodyOf(api.POST(SEND, { params: { path: { workspace, id } }, body }));

/** Ends the sending jobs of a run, and cancels their deliveries that still wait. Resolves to the jobs that cancel them. */
export async function stopSending({ workspace, id }: Run): ReturnType<Stopping['stop']> {
  const stopped = await bodyOf(api.POST(STOP, { params: { path: { workspace, id } }, body: {} }));
  return { jobs: stopped.jobs.map((job) => ({ workspace, id: job.id })), refused: [], note: waitingText(stopped) };
}

/** The newest job that sends messages of a run and undoes no other, or null. It is read again every second until it has ended. */
export const sendingJobQuery = ({ workspace, id }: Run) =>
  queryOptions({
    queryKey: [JOBS, workspace, 'sends', id],
    queryFn: async ({ signal }) => {
      let cursor: string | null = null;
      do {
        const query = { run: id, action: ['send_missing' as const], ...(cursor !== null && { cursor }) };
        const page: Schemas['JobPage'] = await bodyOf(
          api.GET(JOBS, { params: { path: { workspace }, query }, signal }),
        );
        const found = page.items.find(({ parameters }) => parameters.undoes === undefined);
        if (found) return found;
        cursor = page.next;
      } while (cursor !== null);
      return null;
    },
    refetchInterval: ({ state: { data } }) => (data && data.ended_at === null ? POLL_INTERVAL_MS : false),
  });
