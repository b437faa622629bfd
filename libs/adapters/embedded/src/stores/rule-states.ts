import type { LogId } from '@carillon/kernel';
import type { DueRuleState, FencedWrite, RuleState, RuleStateStore, WaitingEntities } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

type RuleStateRow = {
  id: string;
  log_id: string;
  partition: number;
  record_offset: number;
  next_due: number | null;
  data: string;
  forget_at: number | null;
  /** Waits as JSON, in pairs of rule and due. */
  waits: string;
};
type Wait = readonly [rule: string, due: number];
type Removed = Pick<RuleState, 'id' | 'offset'>;
type Sweep = { readonly partition: number; readonly before: number; readonly limit: number };

const NO_WAITS = '[]';

/** Writes the rows of waits that a state gained, and removes those that it lost. */
function replaceWaits(sql: Transaction['sql'], id: string, before: string, after: string): void {
  if (before === after) return;
  for (const [rule, due] of JSON.parse(before) as readonly Wait[]) {
    sql.run('DELETE FROM rule_waits WHERE rule = ? AND due = ? AND state_id = ?', rule, due, id);
  }
  for (const [rule, due] of JSON.parse(after) as readonly Wait[]) {
    sql.run('INSERT OR IGNORE INTO rule_waits (rule, due, state_id) VALUES (?, ?, ?)', rule, due, id);
  }
}

export const ruleStateWrites = ({ sql }: Transaction) => ({
  'ruleStates.save'(rows: readonly RuleStateRow[]): FencedWrite[] {
    return rows.map((row) => {
      const stored = sql.get('SELECT waits FROM rule_states WHERE id = ?', row.id) as
        | Pick<RuleStateRow, 'waits'>
        | undefined;
      const changed = sql.run(
        `INSERT INTO rule_states (id, log_id, partition, record_offset, next_due, data, forget_at, waits)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET record_offset = excluded.record_offset, next_due = excluded.next_due,
           data = excluded.data, forget_at = excluded.forget_at, waits = excluded.waits
         WHERE log_id = excluded.log_id AND partition = excluded.partition AND record_offset < excluded.record_offset`,
        row.id,
        row.log_id,
        row.partition,
        row.record_offset,
        row.next_due,
        row.data,
        row.forget_at,
        row.waits,
      );
      if (changed === 1) {
        replaceWaits(sql, row.id, stored?.waits ?? NO_WAITS, row.waits);
        return 'done';
      }
      const equal = sql.get(
        'SELECT 1 FROM rule_states WHERE id = ? AND log_id = ? AND partition = ? AND record_offset = ?',
        row.id,
        row.log_id,
        row.partition,
        row.record_offset,
      );
      return equal ? 'done' : 'refused';
    });
  },
  'ruleStates.sweep': ({ partition, before, limit }: Sweep): number =>
    sql.run(
      `DELETE FROM rule_states WHERE id IN (
         SELECT id FROM rule_states WHERE partition = ? AND next_due IS NULL AND forget_at < ? LIMIT ?)`,
      partition,
      before,
      limit,
    ),
  'ruleStates.remove'(states: readonly Removed[]): void {
    for (const { id, offset } of states) {
      const stored = sql.get('SELECT waits FROM rule_states WHERE id = ? AND record_offset = ?', id, offset) as
        | Pick<RuleStateRow, 'waits'>
        | undefined;
      if (!stored) continue;
      sql.run('DELETE FROM rule_states WHERE id = ?', id);
      replaceWaits(sql, id, stored.waits, NO_WAITS);
    }
  },
});
type RuleStateWrites = ReturnType<typeof ruleStateWrites>;

export const createRuleStateStore = (reader: Reader, write: Write<RuleStateWrites>): RuleStateStore => ({
  async load(ids) {
    const rows = reader.all(
      'SELECT * FROM rule_states WHERE id IN (SELECT value FROM json_each(?))',
      JSON.stringify(ids),
    ) as RuleStateRow[];
    return rows.map(fromRow);
  },
  async save(states) {
    if (states.length === 0) return [];
    const rows = states.map(toRow);
    const bytes = rows.reduce((sum, row) => sum + row.data.length + 256, 0);
    return write('ruleStates.save', { bytes, rows: rows.length }, rows);
  },
  async due(partition, before, limit) {
    return reader.all(
      `SELECT id, record_offset AS offset, next_due AS nextDue FROM rule_states
       WHERE partition = ? AND next_due < ? ORDER BY next_due, id LIMIT ?`,
      partition,
      before,
      limit,
    ) as DueRuleState[];
  },
  async earliestDue(partition) {
    const row = reader.get(
      'SELECT min(next_due) AS earliest FROM rule_states WHERE partition = ? AND next_due IS NOT NULL',
      partition,
    ) as { readonly earliest: number | null };
    return row.earliest;
  },
  async waiting(rule, limit) {
    const { count, nextDue } = reader.get(
      `SELECT count(*) AS count, min(due) AS nextDue FROM (
         SELECT due FROM rule_waits WHERE rule = ? ORDER BY due LIMIT ?)`,
      rule,
      limit,
    ) as WaitingEntities;
    return { count, nextDue };
  },
  async list(limit, after = '') {
    const rows = reader.all('SELECT * FROM rule_states WHERE id > ? ORDER BY id LIMIT ?', after, limit);
    return (rows as RuleStateRow[]).map(fromRow);
  },
  async sweep(partition, before, limit) {
    return write('ruleStates.sweep', { bytes: 256, rows: limit }, { partition, before, limit });
  },
  async remove(states) {
    if (states.length === 0) return;
    const removed = states.map(({ id, offset }) => ({ id, offset }));
    await write('ruleStates.remove', { bytes: 128 * states.length, rows: states.length }, removed);
  },
});

const toRow = (state: RuleState): RuleStateRow => ({
  id: state.id,
  log_id: state.logId,
  partition: state.partition,
  record_offset: state.offset,
  next_due: state.nextDue,
  data: state.data,
  forget_at: state.forgetAt,
  waits: JSON.stringify(state.waits.map(({ rule, due }): Wait => [rule, due])),
});

const fromRow = (row: RuleStateRow): RuleState => ({
  id: row.id,
  logId: row.log_id as LogId,
  partition: row.partition,
  offset: row.record_offset,
  nextDue: row.next_due,
  forgetAt: row.forget_at,
  waits: (JSON.parse(row.waits) as readonly Wait[]).map(([rule, due]) => ({ rule, due })),
  data: row.data,
});
