/** Requests that were sent with an Idempotency-Key, with their answers; ids and fingerprints are keyed digests, answers are sealed. */
export const KEPT_ANSWERS_SCHEMA = `
  CREATE TABLE kept_answers (
    id TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    token TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    answer TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX kept_answers_ends_at ON kept_answers (ends_at);
`;
