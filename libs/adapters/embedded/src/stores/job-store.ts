import type { Job } from '@carillon/domain';
import type { JobStore } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

/** Documents and items are text here already: the writer is to know how long they are, and copies them once. */
export const jobWrites = ({ sql }: Pick<Transaction, 'sql'>) => ({
  'jobs.insert': ({ id, workspace, work, state, version, createdAt, endedAt }: Job, document: string, items: string) =>
    sql.run(
      `INSERT INTO jobs (id, workspace, action, state, version, created_at, ended_at, document, items)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      id,
      workspace,
      work.action,
      state,
      version,
      createdAt,
      endedAt,
      document,
      items,
    ) > 0,
  'jobs.replace': (id: string, state: string, version: number, endedAt: number | null, document: string): boolean =>
    sql.run(
      'UPDATE jobs SET state = ?, version = ?, ended_at = ?, document = ? WHERE id = ? AND version = ?',
      state,
      version,
      endedAt,
      document,
      id,
      version - 1,
    ) > 0,
  'jobs.removeEnded': (before: number, limit: number): number =>
    sql.run('DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE ended_at < ? LIMIT ?)', before, limit),
});
type JobWrites = ReturnType<typeof jobWrites>;

const fromRow = (row: object): Job => JSON.parse((row as { readonly document: string }).document) as Job;
const marks = (values: readonly unknown[] | undefined): string => (values ?? []).map(() => '?').join(', ');

export const createJobStore = (reader: Reader, write: Write<JobWrites>): JobStore => ({
  async insert(job, items) {
    const [document, list] = [JSON.stringify(job), JSON.stringify(items)];
    const bytes = 512 + document.length + list.length;
    return (await write('jobs.insert', { bytes }, job, document, list)) ? 'done' : 'taken';
  },
  async get(id) {
    const row = reader.get('SELECT document FROM jobs WHERE id = ?', id);
    return row ? fromRow(row) : null;
  },
  async items(id) {
    const row = reader.get('SELECT items FROM jobs WHERE id = ?', id);
    return row ? (JSON.parse(String(row['items'])) as string[]) : [];
  },
  async replace(next) {
    const { id, state, version, endedAt } = next;
    const document = JSON.stringify(next);
    const done = await write('jobs.replace', { bytes: 512 + document.length }, id, state, version, endedAt, document);
    return done ? 'done' : 'stale';
  },
  async unfinished(limit) {
    const wanted = 'SELECT document FROM jobs WHERE ended_at IS NULL ORDER BY created_at, id LIMIT ?';
    return reader.all(wanted, limit).map(fromRow);
  },
  async list({ workspace, states, actions }, limit, cursor) {
    const [at, id] = cursor === undefined ? [] : keysOf(cursor, 'number', 'string');
    const { where, values } = conditionsOf([
      ['workspace = ?', workspace],
      [`state IN (${marks(states)})`, ...(states ?? [undefined])],
      [`action IN (${marks(actions)})`, ...(actions ?? [undefined])],
      ['(created_at, id) < (?, ?)', at, id],
    ]);
    const page = `SELECT id, created_at, document FROM jobs ${where} ORDER BY created_at DESC, id DESC LIMIT ?`;
    const rows = reader.all(page, ...values, limit + 1) as { readonly id: string; readonly created_at: number }[];
    return pageOf(rows, limit, fromRow, (row) => cursorAt(row.created_at, row.id));
  },
  removeEnded: (before, limit) => write('jobs.removeEnded', { bytes: 64, rows: limit }, before, limit),
});
