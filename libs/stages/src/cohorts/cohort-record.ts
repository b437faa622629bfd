import { cohortKey, type CohortChange, type CohortMessage } from '@carillon/domain/cohorts';
import { partitionOf } from '@carillon/domain/events';
import type { Duration, EventId } from '@carillon/kernel';
import type { EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

type Places = {
  readonly ids: Pick<Ids, 'keyed'>;
  readonly log: Pick<EventLog, 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'cohort'>;
};

/** Where a webhook came in, and when it is still the first sync. */
export type CohortSource = {
  readonly workspace: string;
  readonly integration: string;
  /** Id of the webhook. */
  readonly id: EventId;
  readonly firstSync: Duration;
};

/** The messages of one webhook, each with an id of its own: what changes because of one is not what changes because of another. */
export function cohortMessages(
  changes: readonly CohortChange[],
  { id, ...source }: CohortSource,
  ids: Pick<Ids, 'derive'>,
): readonly CohortMessage[] {
  return changes.map((change, at) => ({
    ...source,
    ...change,
    // A replacement that names no session is one by itself.
    session: change.session ?? (change.action === 'replace' ? id : null),
    id: at === 0 ? id : (ids.derive('event', 'cohort message', id, String(at)) as EventId),
  }));
}

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
