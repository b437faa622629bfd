import { publishedOutcomes, type Delivery, type Outcome } from '@carillon/domain/deliveries';
import { partitionOf } from '@carillon/domain/events';
import type { DeliveryLedger, EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

/** Ports that a transition needs to write the ledger and publish outcomes. */
export type OutcomePorts = {
  readonly log: EventLog;
  readonly ledger: DeliveryLedger;
  readonly codecs: Pick<RecordCodecs, 'outcome'>;
  readonly ids: Ids;
};

/** Log records of the unpublished outcomes of a delivery. */
export const outcomeRecords = ({ unpublished }: Delivery, ports: OutcomePorts): readonly NewRecord[] =>
  unpublished.map((outcome) => outcomeRecord(outcome, ports));

function outcomeRecord(outcome: Outcome, { log, codecs, ids }: OutcomePorts): NewRecord {
  const key = ids.keyed('outcome', outcome.deliveryId);
  return {
    topic: 'carillon.outcomes',
    partition: partitionOf(key, log.partitions('carillon.outcomes')),
    key,
    value: codecs.outcome.encode(outcome),
    headers: { ...(outcome.traceparent !== null && { traceparent: outcome.traceparent }) },
  };
}

/** A change that is written together with the removal of published outcomes. Undefined: no change. */
export type Amend = (delivery: Delivery) => Delivery | undefined;

/**
 * Appends the unpublished outcomes of deliveries in one append, then removes the outcomes from the documents. Returns the number of
 * outcomes. After a crash in between, the sweeper appends the outcomes again under the same ids. Transitions publish by
 * themselves; only the sweeper needs this function.
 */
export async function publishOutcomes(
  deliveries: readonly Delivery[],
  ports: OutcomePorts,
  amend: Amend = () => undefined,
): Promise<number> {
  const pending = deliveries.filter((delivery) => delivery.unpublished.length > 0 || amend(delivery) !== undefined);
  const records = pending.flatMap((delivery) => outcomeRecords(delivery, ports));
  if (records.length > 0) await ports.log.append(records);
  await Promise.all(pending.map((delivery) => removePublished(delivery, ports.ledger, amend)));
  return records.length;
}

async function removePublished(delivery: Delivery, ledger: DeliveryLedger, amend: Amend): Promise<void> {
  const ids = new Set(delivery.unpublished.map((outcome) => outcome.id));
  let newest: Delivery | null = delivery;
  while (newest) {
    const published = publishedOutcomes(newest, ids);
    const amended = amend(published ?? newest);
    // One write for both changes.
    const next = amended ? { ...amended, version: newest.version + 1 } : published;
    if (!next || (await ledger.replace(next, { together: true })) === 'done') return;
    newest = await ledger.get(delivery.id);
  }
}
