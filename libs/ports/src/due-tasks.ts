import type { Instant } from '@carillon/kernel';

/** Work in custody that is due at a time: what may wait longer than a few seconds (architecture section 2). */
export type DueTask = {
  readonly id: string;
  readonly kind: string;
  readonly workspace: string;
  readonly nextAt: Instant;
  readonly version: number;
  readonly leaseUntil: Instant | null;
  readonly done: boolean;
  readonly data: string;
};

export type DueTasks = {
  /** Custody: inserts those whose id is new, leaves the others as they are. Durable when it resolves. True: was new. */
  insert(tasks: readonly DueTask[]): Promise<readonly boolean[]>;
  /** Tasks not done, due and not leased at `now`, earliest first. */
  due(kind: string, now: Instant, limit: number): Promise<readonly DueTask[]>;
  /** Compare-and-set on `version`; `next.version` must be one more. A repeat of a write that was done is `stale`: read it. */
  replace(expectedVersion: number, next: DueTask): Promise<'done' | 'stale'>;
  get(id: string): Promise<DueTask | null>;
};
