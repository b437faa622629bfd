import type { LogId } from '@carillon/kernel';
import type { FencedWrite, RuleState, RuleStateStore } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

type RuleStateRow = {
  id: string;
  log_id: string;
  partition: number;
  record_offset: number;
  next_due: number | null;
  data: string;
};

export const ruleStateWrites = ({ sql }: Transaction) => ({
  'ruleStates.save'(rows: readonly RuleStateRow[]): FencedWrite[] {
    return rows.map((row) => {
      const changed = sql.run(
        `INSERT INTO rule_states VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET record_offset = excluded.record_offset, next_due = excluded.next_due, data = excluded.data
         WHERE log_id = excluded.log_id AND partition = excluded.partition AND record_offset < excluded.record_offset`,
        row.id,
        row.log_id,
        row.partition,
        row.record_offset,
        row.next_due,
        row.data,
      );
      if (changed === 1) return 'done';
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
  async due(partition, at, limit) {
    const rows = reader.all(
      'SELECT * FROM rule_states WHERE partition = ? AND next_due <= ? ORDER BY next_due LIMIT ?',
      partition,
      at,
      limit,
    ) as RuleStateRow[];
    return rows.map(fromRow);
  },
});

const toRow = (state: RuleState): RuleStateRow => ({
  id: state.id,
  log_id: state.logId,
  partition: state.partition,
  record_offset: state.offset,
  next_due: state.nextDue,
  data: state.data,
});

const fromRow = (row: RuleStateRow): RuleState => ({
  id: row.id,
  logId: row.log_id as LogId,
  partition: row.partition,
  offset: row.record_offset,
  nextDue: row.next_due,
  data: row.data,
});
