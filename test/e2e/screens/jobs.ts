import type { Call, ScriptedApi } from './scripted-api.ts';

const JOB = 'GET /v1/workspaces/{workspace}/jobs/{id}';
const UNDO = 'POST /v1/workspaces/{workspace}/jobs/{id}/undo';

export type ScriptedJob = {
  readonly action: string;
  /** Number of items. */
  readonly of: number;
  readonly failures?: readonly { readonly item: string; readonly code: string; readonly detail: string }[];
  /** Defaults to the workspace of the example. */
  readonly workspace?: string;
  /** Takes back what the job did. Left out: the job cannot be undone. */
  readonly undo?: () => void;
};

/** Returns a waiting job, as the call that starts it is answered. Every later read of it says that it is done. */
export function startJob(
  api: ScriptedApi,
  { action, of, failures = [], workspace, undo }: ScriptedJob,
  undone?: { readonly id: string },
): object {
  const waiting = {
    ...api.example(JOB),
    ...(workspace !== undefined && { workspace }),
    id: undone ? 'job_2' : 'job_1',
    action,
    state: 'waiting',
    of,
    done: 0,
    failed: 0,
    failures: [],
    parameters: undone ? { undoes: undone.id } : {},
    started_at: null,
  };
  const ended = {
    ...waiting,
    state: 'done',
    done: of - failures.length,
    failed: failures.length,
    failures,
    ended_at: '2026-11-22T10:42:05.000Z',
    can_undo: undo !== undefined,
  };
  api.answer(JOB, ({ params }: Call) => (params['id'] === undone?.id ? undone : ended) as object);
  if (undo) {
    api.answer(UNDO, () => {
      undo();
      return startJob(api, { action, of, ...(workspace !== undefined && { workspace }) }, ended);
    });
  }
  return waiting;
}
