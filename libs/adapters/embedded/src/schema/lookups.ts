/** What asking partners needs: deadlines of tasks, the ends of those that are done, and which answer counts. */
export const LOOKUPS_SCHEMA = `
  ALTER TABLE tasks ADD COLUMN deadline INTEGER;
  CREATE INDEX tasks_deadline ON tasks (kind, deadline) WHERE done = 0 AND deadline IS NOT NULL;
  CREATE INDEX tasks_done ON tasks (next_at) WHERE done = 1;

  CREATE TABLE lookup_claims (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    trigger_id TEXT NOT NULL,
    position TEXT NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (trigger_id, position)
  ) STRICT;
  CREATE INDEX lookup_claims_at ON lookup_claims (at);
`;
