/** An address has an entry for each source, where it had one alone. Sequence numbers stay, so that open lists go on. */
export const SUPPRESSIONS_BY_SOURCE = `
  ALTER TABLE suppressions RENAME TO suppressions_by_address;
  DROP INDEX suppressions_workspace;
  CREATE TABLE suppressions (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    source TEXT NOT NULL,
    detail TEXT NOT NULL,
    delivery_id TEXT,
    at INTEGER NOT NULL,
    UNIQUE (workspace, channel, address, source)
  ) STRICT;
  CREATE INDEX suppressions_workspace ON suppressions (workspace, sequence);
  INSERT INTO suppressions SELECT * FROM suppressions_by_address;
  DROP TABLE suppressions_by_address;
`;

/** Author of a suppression. Null for entries that no person made, and for older ones. */
export const SUPPRESSIONS_ADDED_BY = `
  ALTER TABLE suppressions ADD COLUMN added_by TEXT;
`;
