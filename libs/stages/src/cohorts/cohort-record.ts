import { cohortKey, partitionOf, type CohortMessage } from '@carillon/domain';
import type { EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

type Places = {
  readonly ids: Pick<Ids, 'keyed'>;
  readonly log: Pick<EventLog, 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'cohort'>;
};

/** The record of a message, keyed by its cohort: what is said of one cohort stays in order. */
export function cohortRecord(
  message: CohortMessage,
  traceparent: string | null,
  { ids, log, codecs }: Places,
): NewRecord {
  const key = ids.keyed('cohort', cohortKey(message));
  return {
    topic: 'carillon.cohorts',
    partition: partitionOf(key, log.partitions('carillon.cohorts')),
    key,
    value: codecs.cohort.encode(message),
    headers: { workspace: message.workspace, ...(traceparent !== null && { traceparent }) },
  };
}
