import type { Asking, Trigger } from '@carillon/domain';
import { parseJson, stringifyJson, type Instant } from '@carillon/kernel';
import type { DueTask, DueTasks } from '@carillon/ports';

/** A trigger in custody, read. */
export type AskTask = { readonly task: DueTask; readonly asking: Asking };

const KIND = /^ask ([^/]+)\/(.+)$/;

/** Tasks queue by partner, so that a slow one holds up its own triggers alone. */
export const askKind = (workspace: string, integration: string): string => `ask ${workspace}/${integration}`;

/** The partner of a kind of task; null where it is no asking. */
export function partnerOfKind(kind: string): { readonly workspace: string; readonly integration: string } | null {
  const [, workspace, integration] = KIND.exec(kind) ?? [];
  return workspace !== undefined && integration !== undefined ? { workspace, integration } : null;
}

// What is in an asking came out of JSON of ours, or of readers that refuse names with a meaning of their own.
const write = (asking: Asking): string => stringifyJson(asking);
export const readAsking = (task: DueTask): Asking => parseJson(task.data) as unknown as Asking;
export const readTask = (task: DueTask): AskTask => ({ task, asking: readAsking(task) });

/** The task that takes a trigger into custody: due at once, until it is too late. */
export const newTask = (trigger: Trigger, asking: Asking, now: Instant): DueTask => ({
  id: trigger.id,
  kind: askKind(trigger.workspace, trigger.integration),
  workspace: trigger.workspace,
  nextAt: now,
  deadline: trigger.notAfter,
  version: 1,
  leaseUntil: null,
  done: false,
  data: write(asking),
});

type Change = Partial<Pick<DueTask, 'nextAt' | 'deadline' | 'leaseUntil' | 'done'>> & { readonly asking?: Asking };

/** Moves a task by compare-and-set; null where somebody else moved it first. */
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
