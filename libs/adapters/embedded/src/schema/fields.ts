/** Fields seen on the streams: one row for each path of a stream in a partition. */
export const FIELDS_SCHEMA = `
  CREATE TABLE field_rows (
    stream TEXT NOT NULL,
    partition INTEGER NOT NULL,
    path TEXT NOT NULL,
    workspace TEXT NOT NULL,
    record_offset INTEGER NOT NULL,
    count INTEGER NOT NULL,
    types TEXT NOT NULL,
    sample TEXT,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (stream, partition, path)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX field_rows_last ON field_rows (last_at);
`;

/** Tables whose changes had the field. */
export const FIELDS_OF_TABLES = `
  ALTER TABLE field_rows ADD COLUMN tables TEXT NOT NULL DEFAULT '[]';
`;
