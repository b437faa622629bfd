import { parseJson, stringifyJson, type Instant } from '@carillon/kernel';

/** A queue of tasks by job and workspace. Tasks of one queue never delay those of another. */
export type TaskQueue = {
  readonly job: 'ask';
  readonly workspace: string;
  /** With whom: of asking, the name of the integration. */
  readonly name: string;
};

/** A queue as one text, for stores that look it up by that. Read with `readTaskQueue`, and in no other way. */
export const taskQueueKey = ({ job, workspace, name }: TaskQueue): string => stringifyJson([job, workspace, name]);

export function readTaskQueue(key: string): TaskQueue {
  const [job, workspace, name] = parseJson(key) as readonly ['ask', string, string];
  return { job, workspace, name };
}

/** A task in custody with a due time. Waits longer than a few seconds are stored as tasks (architecture section 2). */
export type DueTask = {
  readonly id: string;
  readonly queue: TaskQueue;
  /** Not before this. Of a task that is done: when it ended. */
  readonly nextAt: Instant;
  /** After this it is too late; null where it never is. */
  readonly deadline: Instant | null;
  readonly version: number;
  readonly leaseUntil: Instant | null;
  /** Finished ones are kept as long as the topic that they came from, so that nothing is done again. */
  readonly done: boolean;
  readonly data: string;
};

export type DueTasks = {
  /**
   * Takes custody: inserts the tasks whose id is new, and leaves existing ones unchanged. Durable when it resolves.
   * Resolves to true for each new task.
   */
  insert(tasks: readonly DueTask[]): Promise<readonly boolean[]>;
  /** Queues of which a task is not done and due at `now`, leased or not. */
  dueQueues(now: Instant): Promise<readonly TaskQueue[]>;
  /** Tasks not done, due and not leased at `now`, earliest first. */
  due(queue: TaskQueue, now: Instant, limit: number): Promise<readonly DueTask[]>;
  /** Tasks not done and not leased whose deadline is `now` or before, earliest first, whenever they would be due. */
  overdue(queue: TaskQueue, now: Instant, limit: number): Promise<readonly DueTask[]>;
  /** Compare-and-set on `version`; `next.version` must be one more. A repeat of a write that was done is `stale`: read it. */
  replace(expectedVersion: number, next: DueTask): Promise<'done' | 'stale'>;
  get(id: string): Promise<DueTask | null>;
};
