import type { ScriptedApi } from './scripted-api.ts';

const JOB = 'GET /v1/workspaces/{workspace}/jobs/{id}';

export type JobEnd = {
  readonly action: string;
  readonly of: number;
  readonly failures?: readonly { readonly item: string; readonly code: string; readonly detail: string }[];
};

/** Returns a job that waits, as the call that starts it answers. Every later read of it says that it is done. */
export function startJob(api: ScriptedApi, { action, of, failures = [] }: JobEnd): object {
  const waiting = {
    ...api.example(JOB),
    action,
    state: 'waiting',
    of,
    done: 0,
    failed: 0,
    failures: [],
    started_at: null,
  };
  const ended_at = '2026-11-22T10:42:05.000Z';
  const done = of - failures.length;
  api.answer(JOB, { ...waiting, state: 'done', done, failed: failures.length, failures, ended_at });
  return waiting;
}
