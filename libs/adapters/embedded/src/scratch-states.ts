import type { RuleState, RuleStateStore } from '@carillon/ports';
import type { Row, Statements } from './statements.ts';

/** An entity of a run, and from when the run knows everything that its state depends on. */
export type MetEntity = {
  readonly id: string;
  /** Append time of its newest record. */
  readonly last: number;
  /** Offset of its first record that was read. */
  readonly firstOffset: number;
  /** Offset of its first record whose state before is known. Null: there was none yet. */
  readonly knownFrom: number | null;
};
/** A rule that asks a partner about an event without a recorded answer. */
export type Unanswered = { readonly position: string; readonly ruleId: string };

/** States of rules in one commit of a scratch file. */
export type ScratchStatePage = {
  /** States of one side of a comparison, or of all rules of a verification. */
  readonly states?: { readonly run: string; readonly states: readonly RuleState[] };
  readonly met?: readonly MetEntity[];
  readonly unanswered?: readonly Unanswered[];
};

/** States of rules in a scratch file. They hold events as long as the file exists. */
export type ScratchStates = {
  /** The states of a side, or of a verification. They are written by `commit`. */
  states(run: string): Pick<RuleStateStore, 'load' | 'due' | 'earliestDue'>;
  /** Returns all states of a side that wait. */
  waiting(run: string): IterableIterator<RuleState>;
  met(ids: readonly string[]): ReadonlyMap<string, MetEntity>;
  /**
   * Removes lines of unanswered rules, and pairs lines of these rules that differ in `unique_id`, because their sides may fire at different records.
   * Returns the number of unanswered events, and of cold lines by side. Safe to repeat.
   */
  settle(ruleIds: readonly string[]): {
    readonly unanswered: number;
    readonly cold: Record<'before' | 'after', number>;
  };
};

export const STATE_SCHEMA = `
  CREATE TABLE states (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    partition INTEGER NOT NULL,
    record_offset INTEGER NOT NULL,
    next_due INTEGER,
    state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX states_due ON states (run, partition, next_due) WHERE next_due IS NOT NULL;
  CREATE TABLE met (
    id TEXT PRIMARY KEY,
    last INTEGER NOT NULL,
    first_offset INTEGER NOT NULL,
    known_from INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE unanswered (position TEXT, rule_id TEXT, PRIMARY KEY (position, rule_id)) STRICT, WITHOUT ROWID;
`;

export function writeStates(sql: Statements, { states, met = [], unanswered = [] }: ScratchStatePage): void {
  for (const state of states?.states ?? []) {
    const { id, partition, offset, nextDue } = state;
    const values = [id, states?.run ?? '', partition, offset, nextDue, JSON.stringify(state)];
    sql.run('INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?, ?, ?)', ...values);
  }
  for (const { id, last, firstOffset, knownFrom } of met) {
    sql.run('INSERT OR REPLACE INTO met VALUES (?, ?, ?, ?)', id, last, firstOffset, knownFrom);
  }
  for (const { position, ruleId } of unanswered) {
    sql.run('INSERT OR IGNORE INTO unanswered VALUES (?, ?)', position, ruleId);
  }
}

const stateOf = (row: Row): RuleState => JSON.parse(row['state'] as string) as RuleState;

const GROUP =
  'position = lines.position AND rule_id = lines.rule_id AND channel = lines.channel AND person = lines.person';

export const scratchStatesOf = (sql: Statements, iterate: (query: string) => IterableIterator<Row>): ScratchStates => ({
  states: (run) => ({
    async load(ids) {
      return ids.flatMap((id) => {
        const row = sql.get('SELECT state FROM states WHERE id = ?', id);
        return row ? [stateOf(row)] : [];
      });
    },
    async due(partition, before, limit) {
      const rows = sql.all(
        'SELECT id, record_offset, next_due FROM states WHERE run = ? AND partition = ? AND next_due < ? ORDER BY next_due LIMIT ?',
        run,
        partition,
        before,
        limit,
      );
      return rows.map((row) => ({
        id: row['id'] as string,
        offset: row['record_offset'] as number,
        nextDue: row['next_due'] as number,
      }));
    },
    async earliestDue(partition) {
      const row = sql.get(
        'SELECT min(next_due) AS due FROM states WHERE run = ? AND partition = ? AND next_due IS NOT NULL',
        run,
        partition,
      );
      return (row?.['due'] as number | null | undefined) ?? null;
    },
  }),
  *waiting(run) {
    const quoted = run.replaceAll("'", "''");
    for (const row of iterate(`SELECT state FROM states WHERE run = '${quoted}' AND next_due IS NOT NULL`)) {
      yield stateOf(row);
    }
  },
  met(ids) {
    const found = new Map<string, MetEntity>();
    for (const id of ids) {
      const row = sql.get('SELECT last, first_offset, known_from FROM met WHERE id = ?', id);
      if (!row) continue;
      const [last, firstOffset] = [row['last'] as number, row['first_offset'] as number];
      found.set(id, { id, last, firstOffset, knownFrom: row['known_from'] as number | null });
    }
    return found;
  },
  settle(ruleIds) {
    const rules = JSON.stringify(ruleIds);
    const unanswered = sql.get('SELECT count(DISTINCT position) AS count FROM unanswered')?.['count'] as number;
    sql.run('DELETE FROM lines WHERE (position, rule_id) IN (SELECT position, rule_id FROM unanswered)');
    sql.run('CREATE INDEX IF NOT EXISTS lines_of_event ON lines (position, rule_id, channel, person)');
    sql.run(
      `UPDATE lines SET other_slot = (
         SELECT min(slot) FROM lines AS other WHERE ${GROUP} AND side <> lines.side
           AND NOT EXISTS (SELECT 1 FROM lines AS own WHERE ${GROUP} AND side = lines.side AND slot = other.slot))
       WHERE other_slot IS NULL AND rule_id IN (SELECT value FROM json_each(?))
         AND NOT EXISTS (SELECT 1 FROM lines AS other WHERE ${GROUP} AND side <> lines.side AND slot = lines.slot)`,
      rules,
    );
    const cold = { before: 0, after: 0 };
    for (const row of sql.all('SELECT side, count(*) AS count FROM lines WHERE is_cold = 1 GROUP BY side')) {
      cold[row['side'] as 'before' | 'after'] = row['count'] as number;
    }
    return { unanswered, cold };
  },
});
