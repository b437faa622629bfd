import type { Instant } from '@carillon/kernel';

/** Work in custody that is due at a time: what may wait longer than a few seconds (architecture section 2). */
export type DueTask = {
  readonly id: string;
  /** What is to be done, and with whom, such as `ask shop/crm`: tasks of one kind never hold up those of another. */
  readonly kind: string;
  readonly workspace: string;
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
  /** Custody: inserts those whose id is new, leaves the others as they are. Durable when it resolves. True: was new. */
  insert(tasks: readonly DueTask[]): Promise<readonly boolean[]>;
  /** Kinds of which a task is not done and due at `now`, leased or not. */
  dueKinds(now: Instant): Promise<readonly string[]>;
  /** Tasks not done, due and not leased at `now`, earliest first. */
  due(kind: string, now: Instant, limit: number): Promise<readonly DueTask[]>;
  /** Tasks not done and not leased whose deadline is `now` or before, earliest first, whenever they would be due. */
  overdue(kind: string, now: Instant, limit: number): Promise<readonly DueTask[]>;
  /** Compare-and-set on `version`; `next.version` must be one more. A repeat of a write that was done is `stale`: read it. */
  replace(expectedVersion: number, next: DueTask): Promise<'done' | 'stale'>;
  get(id: string): Promise<DueTask | null>;
};
