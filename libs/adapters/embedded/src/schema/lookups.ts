/** Tables for partner calls: deadlines of tasks, the ends of done tasks, and the answer that counts. */
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

/** A queue of tasks has a key that can be read whatever is in its names, where it was `ask shop/crm`. */
export const TASKS_BY_QUEUE = `
  UPDATE tasks SET kind = json_array('ask', workspace, substr(kind, length('ask ' || workspace || '/') + 1))
  WHERE kind LIKE 'ask %';
`;
