import type { DatabaseSync } from 'node:sqlite';
import { AUDIT_SEALS_SCHEMA } from './audit-seals.ts';
import { CarillonError } from '@carillon/kernel';
import { COHORTS_SCHEMA } from './cohorts.ts';
import { CONSENTS_SCHEMA } from './consents.ts';
import {
  DELIVERIES_BY_WORKSPACE_AND_STATE,
  DELIVERIES_BY_ANY_FILTER,
  DELIVERIES_BY_PHASE,
  DELIVERIES_COUNTED_BY_INSERT,
  DELIVERIES_IN_FEWER_INDEXES,
  DELIVERIES_NEW_APART,
  DELIVERIES_INTENT_APART,
  DELIVERIES_NOT_BY_TIME_ALONE,
  DELIVERIES_SCHEMA,
  DELIVERIES_WAITING_BY_NOTIFICATION,
} from './deliveries.ts';
import { DIGEST_HEADS_SCHEMA } from './digest-heads.ts';
import { DRAFTS_SCHEMA } from './drafts.ts';
import { FIELDS_OF_TABLES, FIELDS_SCHEMA } from './fields.ts';
import { JOBS_SCHEMA } from './jobs.ts';
import { KEPT_ANSWERS_SCHEMA } from './kept-answers.ts';
import { KEY_USES_SCHEMA } from './key-uses.ts';
import { LIMITS_SCHEMA } from './limits.ts';
import { LOG_SCHEMA } from './log.ts';
import { LOOKUPS_SCHEMA, TASKS_BY_QUEUE } from './lookups.ts';
import { PEOPLE_SCHEMA } from './people.ts';
import {
  DEAD_LETTERS_OF_RECEIPTS,
  DEAD_LETTERS_REDRIVEN_BY,
  EVENTS_BY_TRACE,
  INBOX_BY_FILTER,
  READ_MODELS_SCHEMA,
} from './read-models.ts';
import { COHORT_RESTORES_SCHEMA, RESTORES_SCHEMA, SENDING_JOB_RESTORES_SCHEMA } from './restores.ts';
import { RULE_STATES_DUE_AND_FORGOTTEN, RULE_WAITS_SCHEMA } from './rule-states.ts';
import { DATA_KEYS_SCHEMA } from './secrets.ts';
import { SUPPRESSIONS_ADDED_BY, SUPPRESSIONS_BY_SOURCE } from './suppressions.ts';
import { LEASES_BY_END, STORES_SCHEMA } from './stores.ts';

/** Marks the file as ours, so that nobody else's database is taken for an empty one. `Cari` in ASCII. */
export const APPLICATION_ID = 0x43617269;

/** Each step migrates a file by one version. A released step never changes; new steps are appended. */
export const MIGRATIONS: readonly string[] = [
  LOG_SCHEMA,
  STORES_SCHEMA,
  DELIVERIES_SCHEMA,
  READ_MODELS_SCHEMA,
  KEY_USES_SCHEMA,
  LOOKUPS_SCHEMA,
  FIELDS_SCHEMA,
  COHORTS_SCHEMA,
  RESTORES_SCHEMA,
  COHORT_RESTORES_SCHEMA,
  DELIVERIES_COUNTED_BY_INSERT,
  DELIVERIES_NOT_BY_TIME_ALONE,
  TASKS_BY_QUEUE,
  SUPPRESSIONS_BY_SOURCE,
  EVENTS_BY_TRACE,
  CONSENTS_SCHEMA,
  DEAD_LETTERS_REDRIVEN_BY,
  LIMITS_SCHEMA,
  DEAD_LETTERS_OF_RECEIPTS,
  SUPPRESSIONS_ADDED_BY,
  DIGEST_HEADS_SCHEMA,
  LEASES_BY_END,
  PEOPLE_SCHEMA,
  DRAFTS_SCHEMA,
  DELIVERIES_WAITING_BY_NOTIFICATION,
  DATA_KEYS_SCHEMA,
  DELIVERIES_BY_WORKSPACE_AND_STATE,
  DELIVERIES_BY_ANY_FILTER,
  AUDIT_SEALS_SCHEMA,
  JOBS_SCHEMA,
  KEPT_ANSWERS_SCHEMA,
  INBOX_BY_FILTER,
  DELIVERIES_INTENT_APART,
  DELIVERIES_BY_PHASE,
  DELIVERIES_IN_FEWER_INDEXES,
  DELIVERIES_NEW_APART,
  FIELDS_OF_TABLES,
  SENDING_JOB_RESTORES_SCHEMA,
  RULE_STATES_DUE_AND_FORGOTTEN,
  RULE_WAITS_SCHEMA,
];

const pragma = (db: DatabaseSync, name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);

/**
 * Brings the file to the newest version, each step in a transaction with its number, so that a crash leaves a whole
 * version. Refuses a file of a newer program rather than guessing what it means.
 */
export function migrate(
  db: DatabaseSync,
  steps: readonly string[] = MIGRATIONS,
  told: (from: number, to: number) => void = () => undefined,
): void {
  const owner = pragma(db, 'application_id');
  const found = pragma(db, 'user_version');
  if (owner !== APPLICATION_ID && (owner !== 0 || found !== 0 || pragma(db, 'schema_version') !== 0)) {
    throw new CarillonError(
      'data_version',
      'carillon.db in the data folder is not a Carillon database; move it to another folder',
    );
  }
  if (found > steps.length) {
    throw new CarillonError(
      'data_version',
      `the data has version ${found} and this program knows versions up to ${steps.length}; start the newer program ` +
        'that wrote it, or restore a backup that this one made',
    );
  }
  if (found === steps.length) return;
  if (found > 0) told(found, steps.length);
  for (const [at, step] of steps.entries()) {
    if (at < found) continue;
    db.exec('BEGIN IMMEDIATE');
    try {
      db.exec(step);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${at + 1}; COMMIT`);
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}

const SLOT_COLUMNS = 'unique_id,workspace,notification_id,channel';

/** Throws if the index behind "one acceptance per slot" is missing. */
export function verifySlotIndex(db: DatabaseSync): void {
  const found = db
    .prepare(
      `SELECT (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(list.name) ORDER BY seqno)) AS columns
       FROM pragma_index_list('deliveries') AS list WHERE list.name = 'deliveries_slot' AND list."unique" = 1 AND partial = 0`,
    )
    .get();
  if (found?.['columns'] === SLOT_COLUMNS) return;
  throw new CarillonError(
    'data_version',
    'the unique index on the slots of deliveries is missing, so nothing would stop a message from going out twice; ' +
      'restore a backup',
  );
}
