/** When API keys were last used. */
export const KEY_USES_SCHEMA = `
  CREATE TABLE key_uses (
    key_id TEXT PRIMARY KEY,
    used_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
