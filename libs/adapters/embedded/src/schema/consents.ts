/** Table of consents: the document of each person, with the columns that are searched. */
export const CONSENTS_SCHEMA = `
  CREATE TABLE consents (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    person TEXT NOT NULL,
    version INTEGER NOT NULL,
    unpublished_since INTEGER,
    document TEXT NOT NULL,
    UNIQUE (workspace, person)
  ) STRICT;
  CREATE INDEX consents_workspace ON consents (workspace, sequence);
  CREATE INDEX consents_unpublished ON consents (unpublished_since) WHERE unpublished_since IS NOT NULL;
`;
