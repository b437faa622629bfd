import { Reply, type Call, type ScriptedApi } from './scripted-api.ts';

const JOB = 'GET /v1/workspaces/{workspace}/jobs/{id}';
const UNDO = 'POST /v1/workspaces/{workspace}/jobs/{id}/undo';

export type ScriptedJob = {
  /** Number of items. */
  readonly of: number;
  /** Takes back what the job did. */
  readonly undo: () => void;
};

/**
 * Serves jobs that end as soon as they are started. Returns a function that starts one in the workspace of a call and returns the
 * response to that call.
 */
export function serveJobs(api: ScriptedApi): (call: Call, job: ScriptedJob) => object {
  const jobs = new Map<string, { readonly body: object; readonly undo: (() => void) | null }>();
  function start({ params: { workspace = '' } }: Call, { of, undo }: ScriptedJob, undoes?: string): object {
    const id = `job_${jobs.size + 1}`;
    const begun = {
      ...api.example(JOB),
      id,
      workspace,
      action: 'remove_suppressions',
      of,
      failed: 0,
      failures: [],
      parameters: undoes === undefined ? {} : { undoes },
    };
    const ended = { state: 'done', done: of, ended_at: '2026-11-22T10:42:09.000Z', can_undo: undoes === undefined };
    jobs.set(id, { body: { ...begun, ...ended }, undo: undoes === undefined ? undo : null });
    return new Reply(202, { ...begun, state: 'waiting', done: 0, can_undo: false });
  }
  api.answer(JOB, ({ params: { id = '' } }: Call) => jobs.get(id)?.body ?? new Reply(404));
  api.answer(UNDO, (call: Call) => {
    const { id = '' } = call.params;
    const job = jobs.get(id);
    job?.undo?.();
    const { of = 0 } = (job?.body ?? {}) as { readonly of?: number };
    return start(call, { of, undo: () => undefined }, id);
  });
  return (call, job) => start(call, job);
}
