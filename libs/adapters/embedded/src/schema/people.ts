/** Table of the people who may use the deployment: one document per record, with the columns that are searched. */
export const PEOPLE_SCHEMA = `
  CREATE TABLE people (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    lookup_key TEXT,
    belongs_to TEXT,
    ends_at INTEGER,
    document TEXT NOT NULL,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, lookup_key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX people_belongs_to ON people (belongs_to, kind, id) WHERE belongs_to IS NOT NULL;
  CREATE INDEX people_ends_at ON people (ends_at) WHERE ends_at IS NOT NULL;
`;
