import type { Asking, Partner, Trigger } from '@carillon/domain/lookups';
import { parseJson, stringifyJson, type Instant } from '@carillon/kernel';
import type { DueTask, DueTasks, TaskQueue } from '@carillon/ports';

/** A trigger in custody, read. */
export type AskTask = { readonly task: DueTask; readonly asking: Asking };

/** Tasks queue by partner, so that a slow one holds up its own triggers alone. */
export const askQueue = ({ workspace, integration }: Partner): TaskQueue => ({
  job: 'ask',
  workspace,
  name: integration,
});
export const partnerOf = ({ workspace, name }: TaskQueue): Partner => ({ workspace, integration: name });

// The state contains only JSON of ours, or of readers that refuse special names such as `__proto__`.
const write = (asking: Asking): string => stringifyJson(asking);
export const readAsking = (task: DueTask): Asking => parseJson(task.data) as unknown as Asking;
export const readTask = (task: DueTask): AskTask => ({ task, asking: readAsking(task) });

/** The task that takes a trigger into custody: due at once, until it is too late. */
export const newTask = (trigger: Trigger, asking: Asking, now: Instant): DueTask => ({
  id: trigger.id,
  queue: askQueue(trigger),
  nextAt: now,
  deadline: trigger.notAfter,
  version: 1,
  leaseUntil: null,
  done: false,
  data: write(asking),
});

type Change = Partial<Pick<DueTask, 'nextAt' | 'deadline' | 'leaseUntil' | 'done'>> & { readonly asking?: Asking };

/** Moves a task by compare-and-set. Returns null if another process moved it first. */
export async function moveTask(
  { task, asking }: AskTask,
  change: Change,
  tasks: Pick<DueTasks, 'replace'>,
): Promise<AskTask | null> {
  const { asking: next = asking, ...fields } = change;
  const data = next === asking ? task.data : write(next);
  const moved: DueTask = { ...task, ...fields, data, version: task.version + 1 };
  return (await tasks.replace(task.version, moved)) === 'done' ? { task: moved, asking: next } : null;
}
