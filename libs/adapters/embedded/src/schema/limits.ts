/**
 * Table of messages that count under limits: the document of each person, with the time from which it may be removed.
 */
export const LIMITS_SCHEMA = `
  CREATE TABLE limit_entries (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    person TEXT NOT NULL,
    revision TEXT NOT NULL,
    kept_until INTEGER NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (workspace, person)
  ) STRICT;
  CREATE INDEX limit_entries_kept_until ON limit_entries (kept_until);
`;
