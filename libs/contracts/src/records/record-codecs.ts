import type {
  AuditRecord,
  CohortMessage,
  ConfigurationRecord,
  ConsentWord,
  DeadLetter,
  Evaluation,
  Intent,
  Lookup,
  Outcome,
  Receipt,
  Trigger,
} from '@carillon/domain';
import type { Instant } from '@carillon/kernel';
import { RECORD_SCHEMAS } from '../generated/record-schemas.generated.ts';
import { auditShape } from './audit-record.ts';
import { type Codec, createCodec, type SchemaIds } from './codec.ts';
import { cohortMessageShape } from './cohort-message.ts';
import { configurationShape } from './configuration-record.ts';
import { consentShape } from './consent.ts';
import { deadLetterShape } from './dead-letter.ts';
import { evaluationShape } from './evaluation.ts';
import { intentShape } from './intent.ts';
import { lookupShape } from './lookup.ts';
import { outcomeShape } from './outcome.ts';
import { receiptShape } from './receipt.ts';
import { triggerShape } from './trigger.ts';

/** The port's RecordCodecs, each with `learn` for records that a newer program wrote. */
export type AvroRecordCodecs = {
  readonly cohort: Codec<CohortMessage>;
  readonly trigger: Codec<Trigger>;
  readonly lookup: Codec<Lookup>;
  readonly intent: Codec<Intent>;
  readonly outcome: Codec<Outcome>;
  readonly receipt: Codec<Receipt>;
  readonly consent: Codec<ConsentWord>;
  readonly evaluation: Codec<Evaluation>;
  readonly deadLetter: Codec<DeadLetter>;
  readonly audit: Codec<AuditRecord>;
  readonly configuration: Codec<ConfigurationRecord>;
};

/** Registers every schema, today's and all released ones, and answers with the codecs: from here on all is synchronous. */
export async function createRecordCodecs(registry: SchemaIds, now: () => Instant): Promise<AvroRecordCodecs> {
  return {
    cohort: await createCodec(registry, RECORD_SCHEMAS.cohort, cohortMessageShape, now),
    trigger: await createCodec(registry, RECORD_SCHEMAS.trigger, triggerShape, now),
    lookup: await createCodec(registry, RECORD_SCHEMAS.lookup, lookupShape, now),
    intent: await createCodec(registry, RECORD_SCHEMAS.intent, intentShape, now),
    outcome: await createCodec(registry, RECORD_SCHEMAS.outcome, outcomeShape, now),
    receipt: await createCodec(registry, RECORD_SCHEMAS.receipt, receiptShape, now),
    consent: await createCodec(registry, RECORD_SCHEMAS.consent, consentShape, now),
    evaluation: await createCodec(registry, RECORD_SCHEMAS.evaluation, evaluationShape, now),
    deadLetter: await createCodec(registry, RECORD_SCHEMAS.deadLetter, deadLetterShape, now),
    audit: await createCodec(registry, RECORD_SCHEMAS.audit, auditShape, now),
    configuration: await createCodec(registry, RECORD_SCHEMAS.configuration, configurationShape, now),
  };
}
