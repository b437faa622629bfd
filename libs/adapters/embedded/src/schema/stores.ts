/** Tables of the stages: positions, rule states, tasks in custody, and data of the deployment. */
export const STORES_SCHEMA = `
  CREATE TABLE checkpoints (
    consumer_group TEXT NOT NULL,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    log_id TEXT NOT NULL,
    next INTEGER NOT NULL,
    clocks TEXT NOT NULL,
    config_number INTEGER NOT NULL,
    PRIMARY KEY (consumer_group, topic, partition)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE rule_states (
    id TEXT PRIMARY KEY,
    log_id TEXT NOT NULL,
    partition INTEGER NOT NULL,
    record_offset INTEGER NOT NULL,
    next_due INTEGER,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX rule_states_due ON rule_states (partition, next_due) WHERE next_due IS NOT NULL;

  CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    workspace TEXT NOT NULL,
    next_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    lease_until INTEGER,
    done INTEGER NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX tasks_due ON tasks (kind, next_at) WHERE done = 0;

  CREATE TABLE suppressions (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    channel TEXT NOT NULL,
    address TEXT NOT NULL,
    source TEXT NOT NULL,
    detail TEXT NOT NULL,
    delivery_id TEXT,
    at INTEGER NOT NULL,
    UNIQUE (workspace, channel, address)
  ) STRICT;
  CREATE INDEX suppressions_workspace ON suppressions (workspace, sequence);

  CREATE TABLE deployment_identity (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    log_id TEXT NOT NULL,
    key_fingerprint TEXT NOT NULL
  ) STRICT;
  CREATE TABLE secrets (
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE schemas (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    schema TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE schema_subjects (
    subject TEXT NOT NULL,
    schema_id INTEGER NOT NULL REFERENCES schemas (id),
    PRIMARY KEY (subject, schema_id)
  ) STRICT, WITHOUT ROWID;
`;

/** Leases of single messages come by the thousand, and those that have ended are removed. */
export const LEASES_BY_END = 'CREATE INDEX leases_until ON leases (until);';
