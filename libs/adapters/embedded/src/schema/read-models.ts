/** Tables for lookups by people. All of them can be built again from log and ledger, except the sandbox's inbox. */
export const READ_MODELS_SCHEMA = `
  CREATE TABLE event_rows (
    partition INTEGER NOT NULL,
    record_offset INTEGER NOT NULL,
    id TEXT NOT NULL,
    workspace TEXT NOT NULL,
    stream TEXT NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    config_number INTEGER NOT NULL,
    reused INTEGER NOT NULL,
    PRIMARY KEY (partition, record_offset)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX event_rows_id ON event_rows (id);
  CREATE INDEX event_rows_at ON event_rows (at);
  CREATE INDEX event_rows_workspace ON event_rows (workspace, at);
  CREATE INDEX event_rows_stream ON event_rows (stream, at);

  CREATE TABLE duplicate_rows (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    notification TEXT NOT NULL,
    intent_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX duplicate_rows_event ON duplicate_rows (event_id);
  CREATE INDEX duplicate_rows_delivery ON duplicate_rows (delivery_id);
  CREATE INDEX duplicate_rows_at ON duplicate_rows (at);
  CREATE INDEX duplicate_rows_workspace ON duplicate_rows (workspace, at);

  CREATE TABLE dead_letter_rows (
    id TEXT PRIMARY KEY,
    workspace TEXT,
    stage TEXT NOT NULL,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    record_offset INTEGER NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    own_partition INTEGER NOT NULL,
    own_offset INTEGER NOT NULL,
    redriven_at INTEGER
  ) STRICT;
  CREATE INDEX dead_letter_rows_at ON dead_letter_rows (at, id);
  CREATE INDEX dead_letter_rows_workspace ON dead_letter_rows (workspace, at, id);

  CREATE TABLE evaluation_rows (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    partition INTEGER NOT NULL,
    from_offset INTEGER NOT NULL,
    to_offset INTEGER NOT NULL,
    config_number INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    rule TEXT NOT NULL,
    fired INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    sample_event_id TEXT,
    sample_error TEXT,
    written_at INTEGER NOT NULL,
    UNIQUE (partition, from_offset, to_offset, config_number, workspace, rule)
  ) STRICT;
  CREATE INDEX evaluation_rows_rule ON evaluation_rows (workspace, rule, (failed > 0), sequence);
  CREATE INDEX evaluation_rows_written ON evaluation_rows (written_at);

  CREATE TABLE inbox (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  CREATE INDEX inbox_at ON inbox (at, id);
`;

/**
 * Virtual columns for the inbox filters, computed from the message, so that older rows are covered. They use space only
 * in the indexes.
 */
export const INBOX_BY_FILTER = `
  ALTER TABLE inbox ADD COLUMN workspace TEXT AS (message ->> '$.workspace') VIRTUAL;
  ALTER TABLE inbox ADD COLUMN channel TEXT AS (message ->> '$.message.channel') VIRTUAL;
  ALTER TABLE inbox ADD COLUMN recipient TEXT AS (message ->> '$.message.to') VIRTUAL;
  CREATE INDEX inbox_workspace ON inbox (workspace, at, id);
  CREATE INDEX inbox_recipient ON inbox (recipient, at, id);
`;

/** Author of a redrive. Null for earlier rows. */
export const DEAD_LETTERS_REDRIVEN_BY = 'ALTER TABLE dead_letter_rows ADD COLUMN redriven_by TEXT;';

/** Rows of before have no trace: they are found by their id alone. */
export const EVENTS_BY_TRACE = `
  ALTER TABLE event_rows ADD COLUMN trace_id TEXT;
  CREATE INDEX event_rows_trace ON event_rows (trace_id, at) WHERE trace_id IS NOT NULL;
`;

/** Author of a dismissal, and the receipt's content. Null for earlier rows. */
export const DEAD_LETTERS_OF_RECEIPTS = `
  ALTER TABLE dead_letter_rows ADD COLUMN dismissed_at INTEGER;
  ALTER TABLE dead_letter_rows ADD COLUMN dismissed_by TEXT;
  ALTER TABLE dead_letter_rows ADD COLUMN receipt TEXT;
  CREATE INDEX dead_letter_rows_stage ON dead_letter_rows (stage, at, id);
`;
