/**
 * A record's place is one integer, partition id and offset together, so that a partition is a run of neighbours in the
 * file: appends go to the end of the run, reads and trims are ranges. `next` outlives the records: offsets of an emptied
 * partition never begin again.
 */
export const LOG_SCHEMA = `
  CREATE TABLE log_identity (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    log_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE partitions (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    start INTEGER NOT NULL DEFAULT 0,
    next INTEGER NOT NULL DEFAULT 0,
    UNIQUE (topic, partition)
  ) STRICT;
  CREATE TABLE records (
    place INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    key TEXT NOT NULL,
    headers TEXT NOT NULL,
    value BLOB NOT NULL
  ) STRICT;
`;
