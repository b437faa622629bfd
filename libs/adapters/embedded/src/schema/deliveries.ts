/**
 * The ledger: the document whole, and beside it the columns that are searched by. The slot has a unique index of its own
 * beside the id that is made from it, so that even two ids for one slot (a changed key) cannot both be inserted.
 */
export const DELIVERIES_SCHEMA = `
  CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    workspace TEXT NOT NULL,
    notification_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    unique_id TEXT NOT NULL,
    notification TEXT NOT NULL,
    event_id TEXT NOT NULL,
    recipient TEXT,
    next_at INTEGER,
    lease_until INTEGER,
    has_unpublished INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX deliveries_slot ON deliveries (workspace, notification_id, channel, unique_id);
  CREATE INDEX deliveries_due ON deliveries (workspace, next_at) WHERE state = 'WAITING';
  CREATE INDEX deliveries_next ON deliveries (next_at) WHERE state = 'WAITING';
  CREATE INDEX deliveries_lease ON deliveries (lease_until) WHERE state = 'SENDING';
  CREATE INDEX deliveries_unpublished ON deliveries (updated_at) WHERE has_unpublished = 1;
  CREATE INDEX deliveries_event ON deliveries (event_id);
  CREATE INDEX deliveries_workspace ON deliveries (workspace, created_at, id);
  CREATE INDEX deliveries_created ON deliveries (created_at, id);
  CREATE INDEX deliveries_state ON deliveries (state, created_at, id);
  CREATE INDEX deliveries_recipient ON deliveries (recipient, created_at, id);
  CREATE INDEX deliveries_unique_id ON deliveries (unique_id, created_at, id);
  CREATE INDEX deliveries_notification ON deliveries (workspace, notification, created_at, id);

  CREATE TABLE delivery_counts (
    state TEXT PRIMARY KEY,
    deliveries INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER deliveries_counted AFTER INSERT ON deliveries BEGIN
    INSERT INTO delivery_counts VALUES (new.state, 1) ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
  CREATE TRIGGER deliveries_recounted AFTER UPDATE OF state ON deliveries WHEN old.state <> new.state BEGIN
    UPDATE delivery_counts SET deliveries = deliveries - 1 WHERE state = old.state;
    INSERT INTO delivery_counts VALUES (new.state, 1) ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  END;
`;

/** What is inserted is counted once for each batch, by the insert itself. */
export const DELIVERIES_COUNTED_BY_INSERT = 'DROP TRIGGER deliveries_counted';

/**
 * Index of waiting deliveries by notification, to find those a changed configuration concerns. It replaces the index by
 * time alone, because the earliest time is the minimum over workspaces.
 */
export const DELIVERIES_WAITING_BY_NOTIFICATION = `
  CREATE INDEX deliveries_waiting ON deliveries (workspace, notification_id, next_at) WHERE state = 'WAITING';
  DROP INDEX deliveries_next;
`;

/**
 * Index of deliveries by workspace and state, so that a list reads only its own workspace. Lists over all workspaces
 * visit one after another.
 */
export const DELIVERIES_BY_WORKSPACE_AND_STATE = `
  CREATE INDEX deliveries_state_of_workspace ON deliveries (workspace, state, created_at, id);
  DROP INDEX deliveries_state;
`;

/**
 * Further filter columns of delivery lists, with an index per filter in the order of the list. The index by state has
 * the counted columns, so that counting reads no document.
 */
export const DELIVERIES_BY_ANY_FILTER = `
  ALTER TABLE deliveries ADD COLUMN reason TEXT;
  ALTER TABLE deliveries ADD COLUMN person TEXT;
  ALTER TABLE deliveries ADD COLUMN rule TEXT;
  ALTER TABLE deliveries ADD COLUMN is_test INTEGER;
  UPDATE deliveries SET reason = json_extract(document, '$.reason'), person = json_extract(document, '$.intent.person'),
    rule = json_extract(document, '$.intent.rule'), is_test = json_extract(document, '$.intent.test') IS NOT NULL;
  DROP INDEX deliveries_state_of_workspace;
  CREATE INDEX deliveries_state ON deliveries (workspace, state, created_at, id, notification, person);
  DROP INDEX deliveries_event;
  CREATE INDEX deliveries_event ON deliveries (event_id, created_at, id);
  CREATE INDEX deliveries_reason ON deliveries (workspace, reason, created_at, id);
  CREATE INDEX deliveries_rule ON deliveries (workspace, rule, created_at, id);
  CREATE INDEX deliveries_channel ON deliveries (workspace, channel, created_at, id);
  CREATE INDEX deliveries_person ON deliveries (person, created_at, id);
  CREATE INDEX deliveries_test ON deliveries (workspace, created_at, id) WHERE is_test = 1;
`;

/** Drops an index that no list uses and that every insert had to write. */
export const DELIVERIES_NOT_BY_TIME_ALONE = 'DROP INDEX IF EXISTS deliveries_created';

/**
 * The intent of a delivery apart from what moves: it is written once, at the end of a table of its own, and no move writes it again. The
 * document names it by its id, and its row by its place.
 */
export const DELIVERIES_INTENT_APART = `
  CREATE TABLE delivery_intents (
    place INTEGER PRIMARY KEY,
    intent TEXT NOT NULL
  ) STRICT;
  ALTER TABLE deliveries ADD COLUMN intent_place INTEGER;
  INSERT INTO delivery_intents SELECT rowid, json_extract(document, '$.intent') FROM deliveries ORDER BY rowid;
  UPDATE deliveries SET intent_place = rowid, document = json_set(document, '$.intent', json_extract(document, '$.intent.id'));
`;

/**
 * Migration: lists and counts find deliveries by phase instead of state. WAITING and SENDING are one phase
 * (stores/delivery-phases.ts), so moves between them change no index. The slot index starts with `unique_id`, so that a
 * search by `unique_id` needs no index of its own.
 */
export const DELIVERIES_BY_PHASE = `
  ALTER TABLE deliveries ADD COLUMN phase TEXT;
  UPDATE deliveries SET phase = iif(state IN ('WAITING', 'SENDING'), 'OPEN', state);
  DROP INDEX deliveries_state;
  CREATE INDEX deliveries_phase ON deliveries (workspace, phase, created_at, id, notification, person);
  DROP INDEX deliveries_slot;
  CREATE UNIQUE INDEX deliveries_slot ON deliveries (unique_id, workspace, notification_id, channel);
  DROP INDEX deliveries_unique_id;
`;

/** Conditions of partial indexes. SQLite uses such an index only if the query repeats its condition verbatim. */
export const HAS_ANOTHER_REASON = "reason NOT IN ('new', 'accepted')";
export const IS_NAMED_APART = 'person IS NOT recipient';

/**
 * Keeps deliveries that are sent at once out of the index of reasons, and those whose person is the address out of the
 * index of people, because each index entry costs a page of the write-ahead log. The index of recipients includes the
 * person, so that shared addresses are filtered without reading rows.
 */
export const DELIVERIES_IN_FEWER_INDEXES = `
  DROP INDEX deliveries_reason;
  CREATE INDEX deliveries_reason ON deliveries (workspace, reason, created_at, id) WHERE ${HAS_ANOTHER_REASON};
  DROP INDEX deliveries_person;
  CREATE INDEX deliveries_person ON deliveries (person, created_at, id) WHERE ${IS_NAMED_APART};
  DROP INDEX deliveries_recipient;
  CREATE INDEX deliveries_recipient ON deliveries (recipient, created_at, id, person);
`;

/** Gives new deliveries their own phase, so that searches for them read no held ones (stores/delivery-phases.ts). */
export const DELIVERIES_NEW_APART = "UPDATE deliveries SET phase = 'NEW' WHERE phase = 'OPEN' AND reason = 'new'";
