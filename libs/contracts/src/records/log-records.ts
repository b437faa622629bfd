import { auditRecord } from './audit-record.ts';
import { cohortRecord } from './cohort-message.ts';
import { configurationRecord } from './configuration-record.ts';
import { consentRecord } from './consent.ts';
import { deadLetterRecord } from './dead-letter.ts';
import { evaluationRecord } from './evaluation.ts';
import { intentRecord } from './intent.ts';
import { lookupRecord } from './lookup.ts';
import { outcomeRecord } from './outcome.ts';
import { receiptRecord } from './receipt.ts';
import { triggerRecord } from './trigger.ts';

/**
 * Every kind of derived record on the log. Topics, codecs, schema files, retention and tests read this list. A registry
 * numbers schemas in this order, so add a new record at the end.
 */
export const LOG_RECORDS = {
  cohort: cohortRecord,
  trigger: triggerRecord,
  lookup: lookupRecord,
  intent: intentRecord,
  outcome: outcomeRecord,
  receipt: receiptRecord,
  consent: consentRecord,
  evaluation: evaluationRecord,
  deadLetter: deadLetterRecord,
  audit: auditRecord,
  configuration: configurationRecord,
};
export type LogRecordKind = keyof typeof LOG_RECORDS;

/** The record of each kind, as the domain has it. */
export type LogRecords = { readonly [Kind in LogRecordKind]: Parameters<(typeof LOG_RECORDS)[Kind]['write']>[0] };
