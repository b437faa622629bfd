import type { Instant } from '@carillon/kernel';
import { readTaskQueue, taskQueueKey, type DueTask, type DueTasks, type TaskQueue } from '@carillon/ports';
import type { Wire } from './wire.ts';

const shown = ({ id, version, done, leaseUntil }: DueTask): string =>
  `${id.slice(0, 12)} v${version}${done ? ' done' : leaseUntil === null ? '' : ` leased until ${leaseUntil}`}`;

/** Work in custody, moved by compare-and-set; copies of what it was given. */
export function createMemoryTasks() {
  const stored = new Map<string, DueTask>();

  function insertOne(task: DueTask): boolean {
    if (stored.has(task.id)) return false;
    stored.set(task.id, structuredClone(task));
    return true;
  }

  function replace(expected: number, next: DueTask): 'done' | 'stale' {
    if (next.version !== expected + 1) throw new RangeError(`version ${next.version} does not follow ${expected}`);
    if (stored.get(next.id)?.version !== expected) return 'stale';
    stored.set(next.id, structuredClone(next));
    return 'done';
  }

  const open = (holds: (task: DueTask) => boolean): DueTask[] =>
    [...stored.values()].filter((task) => !task.done && holds(task));
  const isIn = (queue: TaskQueue, task: DueTask): boolean => taskQueueKey(task.queue) === taskQueueKey(queue);
  const isFree = ({ leaseUntil }: DueTask, now: Instant): boolean => leaseUntil === null || leaseUntil <= now;
  const lateAt = ({ deadline }: DueTask): Instant => deadline ?? Number.POSITIVE_INFINITY;

  return {
    all: (): readonly DueTask[] => [...stored.values()],
    connect: (wire: Wire): DueTasks => ({
      insert: (tasks) =>
        wire.ask('tasks.insert', () => tasks.map(insertOne), {
          writes: true,
          about: () => tasks.map(shown).join(', '),
          partly: (chance) => tasks.filter(() => chance() < 0.5).forEach(insertOne),
        }),
      dueQueues: (now) =>
        wire.ask('tasks.dueQueues', () =>
          [...new Set(open(({ nextAt }) => nextAt <= now).map(({ queue }) => taskQueueKey(queue)))].map(readTaskQueue),
        ),
      due: (queue, now, limit) =>
        wire.ask('tasks.due', () =>
          open((task) => isIn(queue, task) && task.nextAt <= now && isFree(task, now))
            .toSorted((a, b) => a.nextAt - b.nextAt)
            .slice(0, limit),
        ),
      overdue: (queue, now, limit) =>
        wire.ask('tasks.overdue', () =>
          open((task) => isIn(queue, task) && lateAt(task) <= now && isFree(task, now))
            .toSorted((a, b) => lateAt(a) - lateAt(b))
            .slice(0, limit),
        ),
      replace: async (expected, next) =>
        wire.ask('tasks.replace', () => replace(expected, next), { writes: true, about: () => shown(next) }),
      get: (id) => wire.ask('tasks.get', () => stored.get(id) ?? null),
    }),
  };
}
export type MemoryTasks = ReturnType<typeof createMemoryTasks>;
