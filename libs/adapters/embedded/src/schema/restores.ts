/** What a restore called off, by partition of `carillon.events`: all that events below this offset cause. */
export const RESTORES_SCHEMA = `
  CREATE TABLE called_off (
    partition INTEGER PRIMARY KEY,
    below INTEGER NOT NULL
  ) STRICT;
`;

/** Offsets per partition of `carillon.cohorts` below which messages cause no events. */
export const COHORT_RESTORES_SCHEMA = `
  CREATE TABLE called_off_cohorts (
    partition INTEGER PRIMARY KEY,
    below INTEGER NOT NULL
  ) STRICT;
`;

/** Sending jobs that the backup holds: what they send is cancelled when it comes. */
export const SENDING_JOB_RESTORES_SCHEMA = `
  CREATE TABLE called_off_jobs (
    job TEXT PRIMARY KEY
  ) STRICT;
`;
