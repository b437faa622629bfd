/** Tables of cohorts and members. One index of members has those inside; the other has those that may be forgotten. */
export const COHORTS_SCHEMA = `
  CREATE TABLE cohorts (
    workspace TEXT NOT NULL,
    integration TEXT NOT NULL,
    cohort TEXT NOT NULL,
    log_id TEXT NOT NULL,
    partition INTEGER NOT NULL,
    record_offset INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (workspace, integration, cohort)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE cohort_members (
    cohort_key TEXT NOT NULL,
    user_id TEXT NOT NULL,
    inside INTEGER NOT NULL,
    since INTEGER,
    newest_time INTEGER NOT NULL,
    newest_offset INTEGER NOT NULL,
    record_offset INTEGER NOT NULL,
    PRIMARY KEY (cohort_key, user_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX cohort_members_inside ON cohort_members (cohort_key, newest_time, newest_offset) WHERE inside = 1;
  CREATE INDEX cohort_members_outside ON cohort_members (newest_time) WHERE inside = 0;
`;
