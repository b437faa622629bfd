import { cohortKey, cohortStream, type CohortMessage, type MembershipChange } from '@carillon/domain/cohorts';
import { partitionOf } from '@carillon/domain/events';
import type { JsonObject } from '@carillon/kernel';
import type { EventLog, Ids, NewRecord } from '@carillon/ports';

type Places = { readonly ids: Pick<Ids, 'derive' | 'keyed'>; readonly log: Pick<EventLog, 'partitions'> };

const utf8 = new TextEncoder();

/**
 * The source event of a change: `entered` or `left`, on the stream of the cohort and with the user as its entity. Its id
 * follows from the change and the message that caused it, so that doing the message again yields the same event.
 */
export function membershipEvent(
  message: CohortMessage,
  name: string | null,
  change: MembershipChange,
  traceparent: string | null,
  { ids, log }: Places,
): NewRecord {
  const { user, kind, firstSync } = change;
  const { workspace, integration, cohort } = message;
  const stream = cohortStream(message);
  const key = ids.keyed('events', stream, user);
  const body: JsonObject = {
    change: kind,
    user_id: user,
    cohort,
    cohort_name: name,
    integration,
    first_sync: firstSync,
    message_id: message.id,
  };
  return {
    topic: 'carillon.events',
    partition: partitionOf(key, log.partitions('carillon.events')),
    key,
    value: utf8.encode(JSON.stringify(body)),
    headers: {
      kind: 'event',
      enc: '0',
      event_id: ids.derive('event', 'cohort', cohortKey(message), user, kind, message.id),
      workspace,
      stream,
      key: encodeURIComponent(user),
      principal: `integration:${integration}`,
      ...(traceparent !== null && { traceparent }),
    },
  };
}
