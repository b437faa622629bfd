import { cohortKey, type Cohort, type CohortMember } from '@carillon/domain/cohorts';
import type { CohortStore, FencedWrite } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';
import { conditionsOf } from './conditions.ts';
import { cursorAt, keysOf, pageOf } from './cursor.ts';

type CohortRow = {
  workspace: string;
  integration: string;
  cohort: string;
  log_id: string;
  partition: number;
  record_offset: number;
  document: string;
};
type MemberRow = {
  cohort_key: string;
  user_id: string;
  inside: number;
  since: number | null;
  newest_time: number;
  newest_offset: number;
  record_offset: number;
};

export const cohortWrites = ({ sql }: Transaction) => ({
  'cohorts.save'(row: CohortRow): FencedWrite {
    const changed = sql.run(
      `INSERT INTO cohorts VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET record_offset = excluded.record_offset, document = excluded.document
       WHERE log_id = excluded.log_id AND partition = excluded.partition AND record_offset <= excluded.record_offset`,
      row.workspace,
      row.integration,
      row.cohort,
      row.log_id,
      row.partition,
      row.record_offset,
      row.document,
    );
    return changed === 1 ? 'done' : 'refused';
  },
  'cohorts.saveMembers'(rows: readonly MemberRow[]): FencedWrite {
    const changed = rows.map((row) =>
      sql.run(
        `INSERT INTO cohort_members VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET inside = excluded.inside, since = excluded.since, newest_time = excluded.newest_time,
           newest_offset = excluded.newest_offset, record_offset = excluded.record_offset
         WHERE record_offset <= excluded.record_offset`,
        row.cohort_key,
        row.user_id,
        row.inside,
        row.since,
        row.newest_time,
        row.newest_offset,
        row.record_offset,
      ),
    );
    return changed.includes(0) ? 'refused' : 'done';
  },
});
type CohortWrites = ReturnType<typeof cohortWrites>;

export const createCohortStore = (reader: Reader, write: Write<CohortWrites>): CohortStore => ({
  async load({ workspace, integration, cohort }) {
    const row = reader.get(
      'SELECT document FROM cohorts WHERE workspace = ? AND integration = ? AND cohort = ?',
      workspace,
      integration,
      cohort,
    ) as Pick<CohortRow, 'document'> | undefined;
    return row ? cohortOf(row) : null;
  },
  save(cohort) {
    const row = rowOf(cohort);
    return write('cohorts.save', { bytes: row.document.length + 256 }, row);
  },
  async members(ref, users) {
    const rows = reader.all(
      'SELECT * FROM cohort_members WHERE cohort_key = ? AND user_id IN (SELECT value FROM json_each(?))',
      cohortKey(ref),
      JSON.stringify(users),
    ) as MemberRow[];
    return rows.map(memberOf);
  },
  async saveMembers(ref, members) {
    if (members.length === 0) return 'done';
    const key = cohortKey(ref);
    const rows = members.map((member) => memberRow(key, member));
    const bytes = rows.reduce((sum, row) => sum + key.length + row.user_id.length + 128, 0);
    return write('cohorts.saveMembers', { bytes, rows: rows.length }, rows);
  },
  async outdated(ref, before, limit) {
    const rows = reader.all(
      `SELECT * FROM cohort_members
       WHERE inside = 1 AND cohort_key = ? AND (newest_time, newest_offset) < (?, ?)
       ORDER BY newest_time, newest_offset LIMIT ?`,
      cohortKey(ref),
      before.time,
      before.offset,
      limit,
    ) as MemberRow[];
    return rows.map(memberOf);
  },
  async count(ref) {
    const row = reader.get(
      'SELECT count(*) AS count FROM cohort_members WHERE inside = 1 AND cohort_key = ?',
      cohortKey(ref),
    );
    return Number(row?.['count']);
  },
  async list(workspace, integration, limit, cursor) {
    const [after] = cursor === undefined ? [] : keysOf(cursor, 'string');
    const { where, values } = conditionsOf([
      ['workspace = ?', workspace],
      ['integration = ?', integration],
      ['cohort < ?', after],
    ]);
    const rows = reader.all(
      `SELECT cohort, document FROM cohorts ${where} ORDER BY cohort DESC LIMIT ?`,
      ...values,
      limit + 1,
    ) as Pick<CohortRow, 'cohort' | 'document'>[];
    return pageOf(rows, limit, cohortOf, (row) => cursorAt(row.cohort));
  },
});

const cohortOf = ({ document }: Pick<CohortRow, 'document'>): Cohort => JSON.parse(document) as Cohort;

const rowOf = (cohort: Cohort): CohortRow => ({
  workspace: cohort.workspace,
  integration: cohort.integration,
  cohort: cohort.cohort,
  log_id: cohort.logId,
  partition: cohort.partition,
  record_offset: cohort.offset,
  document: JSON.stringify(cohort),
});

const memberRow = (key: string, { user, inside, since, newest, offset }: CohortMember): MemberRow => ({
  cohort_key: key,
  user_id: user,
  inside: inside ? 1 : 0,
  since,
  newest_time: newest.time,
  newest_offset: newest.offset,
  record_offset: offset,
});

const memberOf = (row: MemberRow): CohortMember => ({
  user: row.user_id,
  inside: row.inside === 1,
  since: row.since,
  newest: { time: row.newest_time, offset: row.newest_offset },
  offset: row.record_offset,
});
