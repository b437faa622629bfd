/** One row for each wait, so that the entities that wait by a rule are counted from its key alone. Earlier versions wrote no waits. */
export const RULE_WAITS_SCHEMA = `
  ALTER TABLE rule_states ADD COLUMN waits TEXT NOT NULL DEFAULT '[]';
  CREATE TABLE rule_waits (
    rule TEXT NOT NULL,
    due INTEGER NOT NULL,
    state_id TEXT NOT NULL,
    PRIMARY KEY (rule, due, state_id)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * The index has all columns that a page of due states returns. Earlier versions wrote no states, so the migration moves none.
 */
export const RULE_STATES_DUE_AND_FORGOTTEN = `
  ALTER TABLE rule_states ADD COLUMN forget_at INTEGER;
  DROP INDEX rule_states_due;
  CREATE INDEX rule_states_due ON rule_states (partition, next_due, id, record_offset) WHERE next_due IS NOT NULL;
  CREATE INDEX rule_states_forgotten ON rule_states (partition, forget_at) WHERE next_due IS NULL AND forget_at IS NOT NULL;
`;
