import type { Instant } from '@carillon/kernel';
import { readTaskQueue, taskQueueKey, type DueTask, type DueTasks, type TaskQueue } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { compareAndSet, insertEach, writeToken } from '../compare-and-set.ts';
import type { TaskDocument } from '../documents.ts';
import { RetryFromStart } from '../failures.ts';
import { IN_ONE_ANSWER, queued } from '../pages.ts';
import { createAdaptiveBatches } from '../adaptive-batches.ts';

const fieldsOf = (task: DueTask) => ({
  kind: taskQueueKey(task.queue),
  workspace: task.queue.workspace,
  nextAt: task.nextAt,
  version: task.version,
  leaseUntil: task.leaseUntil,
  done: task.done,
  dueAt: task.done ? undefined : task.nextAt,
  deadline: task.deadline ?? undefined,
  overdueAt: task.done ? undefined : (task.deadline ?? undefined),
  endedAt: task.done ? task.nextAt : undefined,
  data: task.data,
});

function documentOf(task: DueTask, token: string): TaskDocument {
  const { dueAt, deadline, overdueAt, endedAt, ...fields } = fieldsOf(task);
  return {
    _id: task.id,
    ...fields,
    ...(dueAt !== undefined && { dueAt }),
    ...(deadline !== undefined && { deadline }),
    ...(overdueAt !== undefined && { overdueAt }),
    ...(endedAt !== undefined && { endedAt }),
    inserted: token,
    written: token,
  };
}

const unleased = (queue: TaskQueue, now: Instant) => ({
  kind: { $eq: taskQueueKey(queue) },
  $or: [{ leaseUntil: null }, { leaseUntil: { $lte: now } }],
});

const taskOf = (found: TaskDocument): DueTask => ({
  id: found._id,
  queue: readTaskQueue(found.kind),
  nextAt: found.nextAt,
  deadline: found.deadline ?? null,
  version: found.version,
  leaseUntil: found.leaseUntil,
  done: found.done,
  data: found.data,
});

/** Inserts those whose id is new; says of each whether it was. */
async function insertRun(
  tasks: Collections['tasks'],
  attempt: Attempt,
  offered: readonly DueTask[],
): Promise<readonly boolean[]> {
  const token = writeToken();
  const firsts = [...new Map(offered.map((task, place) => [task.id, place] as const).toReversed()).values()];
  const documents = firsts.flatMap((place) => {
    const task = offered[place];
    return task ? [documentOf(task, token)] : [];
  });
  const fresh = await attempt(async () => {
    const duplicates = await insertEach(tasks, documents);
    // After a lost answer a duplicate may be our own.
    const ours = duplicates.size > 0 ? await insertedBy(token) : new Set<string>();
    return new Set(firsts.filter((_place, at) => !duplicates.has(at) || ours.has(documents[at]?._id ?? '')));
  });
  return offered.map((_task, place) => fresh.has(place));

  async function insertedBy(own: string): Promise<ReadonlySet<string>> {
    const ids = documents.map(({ _id }) => _id);
    const found = await tasks.find({ _id: { $in: ids } }, { ...IN_ONE_ANSWER, projection: { inserted: 1 } }).toArray();
    if (found.length < ids.length) throw new RetryFromStart('a task is not yet on a majority of the servers');
    return new Set(found.filter(({ inserted }) => inserted === own).map(({ _id }) => _id));
  }
}

function insertingInRuns(tasks: Collections['tasks'], attempt: Attempt): DueTasks['insert'] {
  const inRuns = createAdaptiveBatches();
  return (offered) => inRuns(offered, (run) => insertRun(tasks, attempt, run));
}

export const createDueTasks = ({ tasks }: Collections, attempt: Attempt): DueTasks => ({
  insert: insertingInRuns(tasks, attempt),
  async dueQueues(now) {
    const keys = await attempt(() => tasks.distinct('kind', { dueAt: queued({ $lte: now }) }));
    return keys.map(readTaskQueue);
  },
  async due(queue, now, limit) {
    const wanted = { ...unleased(queue, now), dueAt: queued({ $lte: now }) };
    return (await attempt(() => tasks.find(wanted, { ...IN_ONE_ANSWER, sort: { dueAt: 1 }, limit }).toArray())).map(
      taskOf,
    );
  },
  async overdue(queue, now, limit) {
    const wanted = { ...unleased(queue, now), overdueAt: queued({ $lte: now }) };
    return (await attempt(() => tasks.find(wanted, { ...IN_ONE_ANSWER, sort: { overdueAt: 1 }, limit }).toArray())).map(
      taskOf,
    );
  },
  async replace(expectedVersion, next) {
    if (next.version !== expectedVersion + 1) {
      throw new RangeError(`task ${next.id}: version ${next.version} does not follow ${expectedVersion}`);
    }
    return compareAndSet(tasks, attempt, next.id, next.version, fieldsOf(next));
  },
  async get(id) {
    const found = await attempt(() => tasks.findOne({ _id: id }));
    return found ? taskOf(found) : null;
  },
});
