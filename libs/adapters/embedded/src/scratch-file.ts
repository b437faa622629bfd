import { existsSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ShownTotals } from '@carillon/domain/rules';
import type { Finding, Line, OutputKind, RowPerson, ScratchLookup } from '@carillon/domain/runs';
import { CarillonError } from '@carillon/kernel';
import { makeFolder, makePrivateFile } from './data-folder.ts';
import {
  scratchStatesOf,
  STATE_SCHEMA,
  writeStates,
  type ScratchStatePage,
  type ScratchStates,
} from './scratch-states.ts';
import { statementsOf, type Row } from './statements.ts';

/** Bytes of a scratch file at which its run fails. */
export const MAX_SCRATCH_BYTES = 1024 * 1024 * 1024;

const PAGE_BYTES = 4096;
/** Time for which a process waits for another one that commits. */
const BUSY_TIMEOUT_MS = 5_000;
/** Number of the layout. A file of another layout is not read. */
const LAYOUT = 9;
/** SQLite's code for a disk without room and for a file at its largest size. */
const SQLITE_FULL = 13;

const SCHEMA = `
  CREATE TABLE identity (name TEXT NOT NULL) STRICT;
  CREATE TABLE checkpoint (one INTEGER PRIMARY KEY CHECK (one = 1), state TEXT NOT NULL) STRICT;
  CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE lines (
    slot TEXT NOT NULL,
    side TEXT NOT NULL,
    rule_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    event_id TEXT NOT NULL,
    position TEXT NOT NULL,
    at INTEGER NOT NULL,
    content TEXT NOT NULL,
    person TEXT NOT NULL,
    other_slot TEXT,
    is_cold INTEGER NOT NULL,
    totals TEXT
  ) STRICT;
  CREATE TABLE lookups (
    event_id TEXT NOT NULL,
    rule_id TEXT NOT NULL,
    position TEXT NOT NULL,
    at INTEGER NOT NULL,
    user_ids INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE outputs (
    position TEXT PRIMARY KEY,
    event_position TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    key TEXT NOT NULL,
    content TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX outputs_of_event ON outputs (event_position);
  CREATE TABLE findings (
    number INTEGER PRIMARY KEY,
    problem TEXT NOT NULL,
    output TEXT NOT NULL,
    id TEXT NOT NULL,
    field TEXT,
    rule TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event_position TEXT NOT NULL,
    position TEXT
  ) STRICT;
  ${STATE_SCHEMA}
`;

/**
 * People are written while lines are read. In the file they would grow its write-ahead log without bound, because SQLite cannot
 * truncate the log while a statement reads.
 */
const PEOPLE = `
  CREATE TEMP TABLE people (difference TEXT NOT NULL, person TEXT NOT NULL, is_notified INTEGER NOT NULL) STRICT;
`;

/** Columns of a line by its fields. */
const COLUMNS: Readonly<Record<keyof Line, string>> = {
  slot: 'slot',
  side: 'side',
  ruleId: 'rule_id',
  channel: 'channel',
  eventId: 'event_id',
  position: 'position',
  at: 'at',
  content: 'content',
  person: 'person',
  otherSlot: 'other_slot',
  isCold: 'is_cold',
  totals: 'totals',
};

/** Columns of a finding by its fields. */
const FINDING_COLUMNS: Readonly<Record<keyof Finding, string>> = {
  problem: 'problem',
  output: 'output',
  id: 'id',
  field: 'field',
  rule: 'rule',
  eventId: 'event_id',
  eventPosition: 'event_position',
  position: 'position',
};

/** An output of an event that stands on the log and was not compared yet. */
export type ScratchOutput = {
  /** Its own position, as text `topic/partition@offset`. */
  readonly position: string;
  /** Position of the event. */
  readonly eventPosition: string;
  readonly kind: OutputKind;
  readonly id: string;
  /** Keyed hash of what stays the same if a field differs. */
  readonly key: string;
  /** Keyed hash of all fields. */
  readonly content: string;
};

/** The content of one commit of a scratch file. An answer replaces another one of its key. */
export type ScratchPage = ScratchStatePage & {
  readonly lines?: readonly Line[];
  readonly lookups?: readonly ScratchLookup[];
  readonly answers?: readonly { readonly key: string; readonly answer: string }[];
  /** The people of rows that were sent. They are kept until the file is closed. */
  readonly people?: readonly RowPerson[];
  readonly outputs?: readonly ScratchOutput[];
  /** Positions of outputs that are compared now. They are removed. */
  readonly compared?: readonly string[];
  readonly findings?: readonly Finding[];
  /** Left out: the checkpoint stays. */
  readonly checkpoint?: string;
};

/** Thrown by a commit if another process has committed since the file was opened. */
export class ScratchFileTaken extends Error {}

/** A private SQLite file that one run uses while it works. */
export type ScratchFile = ScratchStates & {
  /** The newest checkpoint. Null for a new file. */
  readonly checkpoint: string | null;
  /**
   * Writes a page and its checkpoint in one commit. Throws CarillonError `no_room` on a full disk and at the largest size, and
   * ScratchFileTaken if the checkpoint in the file is another than the one of this process: the child of a killed process may go on for
   * a page while its successor has begun.
   */
  commit(page: ScratchPage): void;
  answer(key: string): string | undefined;
  /** All lines in the order of these fields. */
  lines(order: readonly (keyof Line)[]): IterableIterator<Line>;
  /** All lookups in the order in which they were written. */
  lookups(): IterableIterator<ScratchLookup>;
  /** The people of all rows, ordered by difference and person. */
  people(): IterableIterator<RowPerson>;
  /** Outputs of an event that were not compared yet, in the order of their positions. */
  outputsOf(eventPosition: string): readonly ScratchOutput[];
  /** At most `limit` outputs that were not compared yet, in the order of their positions. */
  outputs(limit: number): readonly ScratchOutput[];
  /** All findings in the order of these fields. Without fields: in the order in which they were written. */
  findings(order?: readonly (keyof Finding)[]): IterableIterator<Finding>;
  close(): void;
};

/**
 * Opens a scratch file, readable by its owner only. A file that is damaged, of another layout or of another identity is
 * replaced by a new one. The identity names the run and everything that decides about its lines.
 */
export function openScratchFile(file: string, identity: string, maxBytes = MAX_SCRATCH_BYTES): ScratchFile {
  makeFolder(dirname(file));
  let db = existsSync(file) ? openKnown(file, identity) : null;
  if (!db) {
    removeScratchFile(file);
    makePrivateFile(file);
    db = guarded(() => create(file, identity));
  }
  const sql = statementsOf(db);
  const database = db;
  guarded(() => limit(database, file, maxBytes));
  const read = (): string | null => (sql.get('SELECT state FROM checkpoint')?.['state'] as string | undefined) ?? null;
  const checkpoint = read();
  let known = checkpoint;
  function* iterate(query: string): Generator<Row> {
    const rows = guarded(() => sql.iterate(query));
    for (let next = guarded(() => rows.next()); !next.done; next = guarded(() => rows.next())) yield next.value;
  }
  return {
    ...scratchStatesOf(sql, iterate),
    checkpoint,
    commit: ({ checkpoint: state, ...page }) =>
      guarded(
        () => {
          database.exec('BEGIN IMMEDIATE');
          try {
            if (read() !== known) throw new ScratchFileTaken();
            writePage(sql, page);
            if (state !== undefined) sql.run('INSERT OR REPLACE INTO checkpoint VALUES (1, ?)', state);
            database.exec('COMMIT');
            known = state ?? known;
          } catch (error) {
            if (database.isTransaction) database.exec('ROLLBACK');
            throw error;
          }
        },
        () => reasonOfFullCommit(file, maxBytes),
      ),
    answer: (key) => sql.get('SELECT answer FROM answers WHERE key = ?', key)?.['answer'] as string | undefined,
    *lines(order) {
      const columns = order.map((name) => COLUMNS[name]).join(', ');
      for (const row of iterate(`SELECT * FROM lines ORDER BY ${columns}`)) yield lineOf(row);
    },
    *lookups() {
      for (const row of iterate('SELECT * FROM lookups ORDER BY rowid')) yield lookupOf(row);
    },
    *people() {
      for (const row of iterate('SELECT * FROM people ORDER BY difference, person')) yield personOf(row);
    },
    outputsOf: (eventPosition) =>
      sql.all('SELECT * FROM outputs WHERE event_position = ? ORDER BY position', eventPosition).map(outputOf),
    outputs: (limit) => sql.all('SELECT * FROM outputs ORDER BY position LIMIT ?', limit).map(outputOf),
    *findings(order = []) {
      const columns = [...order.map((name) => FINDING_COLUMNS[name]), 'number'].join(', ');
      for (const row of iterate(`SELECT * FROM findings ORDER BY ${columns}`)) yield findingOf(row);
    },
    close: () => database.close(),
  };
}

const LINE_FIELDS = Object.keys(COLUMNS) as (keyof Line)[];
const FINDING_FIELDS = Object.keys(FINDING_COLUMNS) as (keyof Finding)[];

const insertInto = (table: string, columns: readonly string[]): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
const INSERT_LINE = insertInto('lines', Object.values(COLUMNS));
const INSERT_FINDING = insertInto('findings', Object.values(FINDING_COLUMNS));

function writePage(
  sql: ReturnType<typeof statementsOf>,
  {
    lines = [],
    lookups = [],
    answers = [],
    people = [],
    outputs = [],
    compared = [],
    findings = [],
    ...states
  }: Omit<ScratchPage, 'checkpoint'>,
): void {
  writeStates(sql, states);
  for (const line of lines) {
    const values = { ...line, isCold: line.isCold ? 1 : 0, totals: line.totals ? JSON.stringify(line.totals) : null };
    sql.run(INSERT_LINE, ...LINE_FIELDS.map((name) => values[name]));
  }
  for (const { eventId, ruleId, position, at, userIds } of lookups) {
    sql.run('INSERT INTO lookups VALUES (?, ?, ?, ?, ?)', eventId, ruleId, position, at, userIds);
  }
  for (const { key, answer } of answers) sql.run('INSERT OR REPLACE INTO answers VALUES (?, ?)', key, answer);
  for (const { difference, person, isNotified } of people) {
    sql.run('INSERT INTO people VALUES (?, ?, ?)', difference, person, isNotified ? 1 : 0);
  }
  for (const { position, eventPosition, kind, id, key, content } of outputs) {
    sql.run('INSERT INTO outputs VALUES (?, ?, ?, ?, ?, ?)', position, eventPosition, kind, id, key, content);
  }
  for (const position of compared) sql.run('DELETE FROM outputs WHERE position = ?', position);
  for (const finding of findings) sql.run(INSERT_FINDING, ...FINDING_FIELDS.map((name) => finding[name]));
}

/** Deletes a scratch file and the files that SQLite keeps beside it. */
export function removeScratchFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
}

const fieldsOf = (row: Row, columns: Readonly<Record<string, string>>): Row =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, row[column]])) as Row;

function lineOf(row: Row): Line {
  const { totals, ...line } = fieldsOf(row, COLUMNS) as unknown as Omit<Line, 'totals'> & {
    readonly totals: string | null;
  };
  return {
    ...line,
    isCold: row['is_cold'] === 1,
    ...(totals !== null && { totals: JSON.parse(totals) as ShownTotals }),
  };
}
const findingOf = (row: Row): Finding => fieldsOf(row, FINDING_COLUMNS) as unknown as Finding;

const outputOf = (row: Row): ScratchOutput =>
  ({
    position: row['position'],
    eventPosition: row['event_position'],
    kind: row['kind'],
    id: row['id'],
    key: row['key'],
    content: row['content'],
  }) as ScratchOutput;

const lookupOf = (row: Row): ScratchLookup =>
  ({
    eventId: row['event_id'],
    ruleId: row['rule_id'],
    position: row['position'],
    at: row['at'],
    userIds: row['user_ids'],
  }) as ScratchLookup;

const personOf = ({ difference, person, is_notified: isNotified }: Row): RowPerson =>
  ({ difference, person, isNotified: isNotified === 1 }) as RowPerson;

/** Returns null if the file is damaged, of another layout, or of another identity. */
function openKnown(file: string, identity: string): DatabaseSync | null {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    const isOurs =
      db.prepare('PRAGMA user_version').get()?.['user_version'] === LAYOUT &&
      db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok' &&
      db.prepare('SELECT name FROM identity').get()?.['name'] === identity;
    if (isOurs) return db;
  } catch {
    // The run starts again.
  }
  db?.close();
  return null;
}

function create(file: string, identity: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; BEGIN; ${SCHEMA}`);
    db.prepare('INSERT INTO identity VALUES (?)').run(identity);
    db.exec(`PRAGMA user_version = ${LAYOUT}; COMMIT`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Sorting many lines takes more memory than the process has, so it uses files in the folder of the scratch file. */
const limit = (db: DatabaseSync, file: string, maxBytes: number): void =>
  db.exec(`
    PRAGMA synchronous = NORMAL;
    PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / PAGE_BYTES))};
    PRAGMA temp_store = FILE;
    PRAGMA temp_store_directory = '${dirname(file).replaceAll("'", "''")}';
    PRAGMA temp.max_page_count = ${Math.max(1, Math.floor(maxBytes / PAGE_BYTES))};
    ${PEOPLE}
  `);

const MIB = 1024 * 1024;
/** A disk with less free space counts as full. */
const FULL_DISK_BYTES = 16 * MIB;
const DISK_FULL =
  'the disk has no room for the scratch file of the run: free disk space, or choose a shorter time range';

/** Returns why a commit had no room. SQLite has one error for a full disk and for a file at its largest size. */
function reasonOfFullCommit(file: string, maxBytes: number): string {
  const { bavail, bsize } = statfsSync(dirname(file));
  if (bavail * bsize < FULL_DISK_BYTES) return DISK_FULL;
  return `the run needs more than ${maxBytes / MIB} MiB for its scratch file: choose a shorter time range, or fewer notifications for a comparison`;
}

/** Replaces SQLite's error for missing space by CarillonError `no_room`. */
function guarded<Value>(work: () => Value, reason: () => string = () => DISK_FULL): Value {
  try {
    return work();
  } catch (error) {
    if (!isFull(error)) throw error;
    throw new CarillonError('no_room', reason(), {}, { cause: error });
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error &&
  (('errcode' in error && error.errcode === SQLITE_FULL) || ('code' in error && error.code === 'ENOSPC'));
