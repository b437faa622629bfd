import { readTaskQueue, taskQueueKey, type DueTask, type DueTasks } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

type TaskRow = {
  id: string;
  /** The queue's key. */
  kind: string;
  workspace: string;
  next_at: number;
  deadline: number | null;
  version: number;
  lease_until: number | null;
  done: number;
  data: string;
};

export const taskWrites = ({ sql }: Transaction) => ({
  'tasks.insert'(rows: readonly TaskRow[]): boolean[] {
    return rows.map(
      (row) =>
        sql.run(
          `INSERT INTO tasks (id, kind, workspace, next_at, deadline, version, lease_until, done, data)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          row.id,
          row.kind,
          row.workspace,
          row.next_at,
          row.deadline,
          row.version,
          row.lease_until,
          row.done,
          row.data,
        ) === 1,
    );
  },
  'tasks.replace'(expectedVersion: number, row: TaskRow): 'done' | 'stale' {
    const changed = sql.run(
      `UPDATE tasks SET kind = ?, workspace = ?, next_at = ?, deadline = ?, version = ?, lease_until = ?, done = ?, data = ?
       WHERE id = ? AND version = ?`,
      row.kind,
      row.workspace,
      row.next_at,
      row.deadline,
      row.version,
      row.lease_until,
      row.done,
      row.data,
      row.id,
      expectedVersion,
    );
    return changed === 1 ? 'done' : 'stale';
  },
});
type TaskWrites = ReturnType<typeof taskWrites>;

/** Steps from queue to queue along the index instead of over every task that is due. */
const DUE_QUEUES = `
  WITH RECURSIVE step (kind) AS (
    SELECT min(kind) FROM tasks INDEXED BY tasks_due WHERE done = 0
    UNION ALL
    SELECT (SELECT min(kind) FROM tasks INDEXED BY tasks_due WHERE done = 0 AND kind > step.kind)
    FROM step WHERE step.kind IS NOT NULL
  )
  SELECT kind FROM step WHERE kind IS NOT NULL AND EXISTS (
    SELECT 1 FROM tasks INDEXED BY tasks_due WHERE done = 0 AND tasks.kind = step.kind AND next_at <= ?
  )`;

const UNLEASED = 'done = 0 AND kind = ? AND (lease_until IS NULL OR lease_until <= ?)';

const sizeOf = (row: TaskRow): number => row.data.length + 256;

export const createDueTasks = (reader: Reader, write: Write<TaskWrites>): DueTasks => ({
  async insert(tasks) {
    if (tasks.length === 0) return [];
    const rows = tasks.map(toRow);
    return write('tasks.insert', { bytes: rows.reduce((sum, row) => sum + sizeOf(row), 0), rows: rows.length }, rows);
  },
  async dueQueues(now) {
    return (reader.all(DUE_QUEUES, now) as { kind: string }[]).map(({ kind }) => readTaskQueue(kind));
  },
  async due(queue, now, limit) {
    const sql = `SELECT * FROM tasks WHERE ${UNLEASED} AND next_at <= ? ORDER BY next_at LIMIT ?`;
    return (reader.all(sql, taskQueueKey(queue), now, now, limit) as TaskRow[]).map(fromRow);
  },
  async overdue(queue, now, limit) {
    const sql = `SELECT * FROM tasks WHERE ${UNLEASED} AND deadline <= ? ORDER BY deadline LIMIT ?`;
    return (reader.all(sql, taskQueueKey(queue), now, now, limit) as TaskRow[]).map(fromRow);
  },
  async replace(expectedVersion, next) {
    if (next.version !== expectedVersion + 1) {
      throw new RangeError(`task ${next.id}: version ${next.version} does not follow ${expectedVersion}`);
    }
    const row = toRow(next);
    return write('tasks.replace', { bytes: sizeOf(row) }, expectedVersion, row);
  },
  async get(id) {
    const row = reader.get('SELECT * FROM tasks WHERE id = ?', id) as TaskRow | undefined;
    return row ? fromRow(row) : null;
  },
});

const toRow = (task: DueTask): TaskRow => ({
  id: task.id,
  kind: taskQueueKey(task.queue),
  workspace: task.queue.workspace,
  next_at: task.nextAt,
  deadline: task.deadline,
  version: task.version,
  lease_until: task.leaseUntil,
  done: task.done ? 1 : 0,
  data: task.data,
});

const fromRow = (row: TaskRow): DueTask => ({
  id: row.id,
  queue: readTaskQueue(row.kind),
  nextAt: row.next_at,
  deadline: row.deadline,
  version: row.version,
  leaseUntil: row.lease_until,
  done: row.done === 1,
  data: row.data,
});
