import type { DueTask, DueTasks } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

type TaskRow = {
  id: string;
  kind: string;
  workspace: string;
  next_at: number;
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
          'INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
          row.id,
          row.kind,
          row.workspace,
          row.next_at,
          row.version,
          row.lease_until,
          row.done,
          row.data,
        ) === 1,
    );
  },
  'tasks.replace'(expectedVersion: number, row: TaskRow): 'done' | 'stale' {
    const changed = sql.run(
      `UPDATE tasks SET kind = ?, workspace = ?, next_at = ?, version = ?, lease_until = ?, done = ?, data = ?
       WHERE id = ? AND version = ?`,
      row.kind,
      row.workspace,
      row.next_at,
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

const sizeOf = (row: TaskRow): number => row.data.length + 256;

export const createDueTasks = (reader: Reader, write: Write<TaskWrites>): DueTasks => ({
  async insert(tasks) {
    if (tasks.length === 0) return [];
    const rows = tasks.map(toRow);
    return write('tasks.insert', { bytes: rows.reduce((sum, row) => sum + sizeOf(row), 0), rows: rows.length }, rows);
  },
  async due(kind, now, limit) {
    const rows = reader.all(
      `SELECT * FROM tasks WHERE done = 0 AND kind = ? AND next_at <= ? AND (lease_until IS NULL OR lease_until <= ?)
       ORDER BY next_at LIMIT ?`,
      kind,
      now,
      now,
      limit,
    ) as TaskRow[];
    return rows.map(fromRow);
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
  kind: task.kind,
  workspace: task.workspace,
  next_at: task.nextAt,
  version: task.version,
  lease_until: task.leaseUntil,
  done: task.done ? 1 : 0,
  data: task.data,
});

const fromRow = (row: TaskRow): DueTask => ({
  id: row.id,
  kind: row.kind,
  workspace: row.workspace,
  nextAt: row.next_at,
  version: row.version,
  leaseUntil: row.lease_until,
  done: row.done === 1,
  data: row.data,
});
