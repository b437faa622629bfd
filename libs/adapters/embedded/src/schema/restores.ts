/** What a restore called off, by partition of `carillon.events`: all that events below this offset cause. */
export const RESTORES_SCHEMA = `
  CREATE TABLE called_off (
    partition INTEGER PRIMARY KEY,
    below INTEGER NOT NULL
  ) STRICT;
`;
