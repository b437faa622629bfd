/** What people prepare and have not published: the draft of each resource whole. */
export const DRAFTS_SCHEMA = `
  CREATE TABLE drafts (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    revision TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (workspace, kind, name)
  ) STRICT;
`;
