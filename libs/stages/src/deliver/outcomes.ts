import { publishedOutcomes, type Delivery, type Outcome } from '@carillon/domain';
import { partitionOf } from '@carillon/domain';
import type { DeliveryLedger, EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

/** What telling of moves on the log takes. */
export type OutcomePorts = {
  readonly log: EventLog;
  readonly ledger: DeliveryLedger;
  readonly codecs: Pick<RecordCodecs, 'outcome'>;
  readonly ids: Ids;
};

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

/**
 * Appends what the documents still hold unpublished, then takes it out of them. A crash in between appends it again,
 * under the same id. Called by the sender after each move and by the sweeper for what was left.
 */
export async function publishOutcomes(deliveries: readonly Delivery[], ports: OutcomePorts): Promise<number> {
  const holding = deliveries.filter((delivery) => delivery.unpublished.length > 0);
  const waiting = holding.flatMap((delivery) => delivery.unpublished);
  if (waiting.length === 0) return 0;
  await ports.log.append(waiting.map((outcome) => outcomeRecord(outcome, ports)));
  await Promise.all(holding.map((delivery) => forget(delivery, ports.ledger)));
  return waiting.length;
}

async function forget(delivery: Delivery, ledger: DeliveryLedger): Promise<void> {
  const ids = new Set(delivery.unpublished.map((outcome) => outcome.id));
  let seen: Delivery | null = delivery;
  while (seen) {
    const next = publishedOutcomes(seen, ids);
    if (!next || (await ledger.replace(next)) === 'done') return;
    seen = await ledger.get(delivery.id);
  }
}
