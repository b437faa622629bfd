/** The windows of digests: each head whole, and beside it the columns that are searched by. */
export const DIGEST_HEADS_SCHEMA = `
  CREATE TABLE digest_heads (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    version INTEGER NOT NULL,
    due_at INTEGER,
    document TEXT NOT NULL
  ) STRICT;
  CREATE INDEX digest_heads_due ON digest_heads (workspace, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX digest_heads_next ON digest_heads (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX deliveries_unlisted ON deliveries (next_at) WHERE state = 'COLLECTED';
`;
