/** Long actions: the job whole, and beside it its items, which are written once. */
export const JOBS_SCHEMA = `
  CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    workspace TEXT,
    action TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    document TEXT NOT NULL,
    items TEXT NOT NULL
  ) STRICT;
  CREATE INDEX jobs_newest ON jobs (created_at, id);
  CREATE INDEX jobs_workspace ON jobs (workspace, created_at, id);
  CREATE INDEX jobs_unfinished ON jobs (created_at, id) WHERE ended_at IS NULL;
  CREATE INDEX jobs_ended_at ON jobs (ended_at) WHERE ended_at IS NOT NULL;
`;
