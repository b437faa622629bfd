/**
 * Secrets name the data key that seals them; a data key rests under each master key that counts. What is there from earlier
 * versions names none.
 */
export const DATA_KEYS_SCHEMA = `
  CREATE TABLE data_keys (
    workspace TEXT NOT NULL,
    generation INTEGER NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    wraps TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, generation)
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE secrets ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE secrets ADD COLUMN data_key TEXT NOT NULL DEFAULT '';
  ALTER TABLE secrets ADD COLUMN updated_by TEXT NOT NULL DEFAULT '{"kind":"cli","id":"owner"}';
`;
