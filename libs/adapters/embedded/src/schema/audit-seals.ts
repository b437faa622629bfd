/** Seals of the audit, apart from the records that they hold. */
export const AUDIT_SEALS_SCHEMA = `
  CREATE TABLE audit_seals (
    log_id TEXT NOT NULL,
    through INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (log_id, through)
  ) STRICT, WITHOUT ROWID;
`;
