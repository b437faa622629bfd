import { publishedOutcomes, type Delivery, type Outcome } from '@carillon/domain';
import { partitionOf } from '@carillon/domain';
import type { DeliveryLedger, EventLog, Ids, NewRecord, RecordCodecs, Replacing } from '@carillon/ports';

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
 * Moves a document, and tells of it on the log in the same commit where ledger and log are one store. Elsewhere its outcomes wait in the
 * document for `publishOutcomes`. Answers the document as it stands by then; null: somebody else moved it.
 */
export async function moveAndTell(
  next: Delivery,
  ports: OutcomePorts,
  how: Pick<Replacing, 'together'> = {},
): Promise<Delivery | null> {
  const telling = (): readonly NewRecord[] => next.unpublished.map((outcome) => outcomeRecord(outcome, ports));
  const answer = await ports.ledger.replace(next, { ...how, telling });
  if (answer === 'stale') return null;
  return answer === 'told' ? { ...next, unpublished: [] } : next;
}

/** What else the write that takes them out says of a document; undefined: nothing. */
type Settle = (seen: Delivery) => Delivery | undefined;

/**
 * Appends what the documents still hold unpublished, then takes it out of them. A crash in between appends it again,
 * under the same id. Called by the sender after each move and by the sweeper for what was left.
 */
export async function publishOutcomes(
  deliveries: readonly Delivery[],
  ports: OutcomePorts,
  settle: Settle = () => undefined,
): Promise<number> {
  const holding = deliveries.filter((delivery) => delivery.unpublished.length > 0 || settle(delivery) !== undefined);
  const waiting = holding.flatMap((delivery) => delivery.unpublished);
  if (waiting.length > 0) await ports.log.append(waiting.map((outcome) => outcomeRecord(outcome, ports)));
  await Promise.all(holding.map((delivery) => forget(delivery, ports.ledger, settle)));
  return waiting.length;
}

async function forget(delivery: Delivery, ledger: DeliveryLedger, settle: Settle): Promise<void> {
  const ids = new Set(delivery.unpublished.map((outcome) => outcome.id));
  let seen: Delivery | null = delivery;
  while (seen) {
    const told = publishedOutcomes(seen, ids);
    const settled = settle(told ?? seen);
    // One write for both.
    const next = settled ? { ...settled, version: seen.version + 1 } : told;
    if (!next || (await ledger.replace(next, { together: true })) === 'done') return;
    seen = await ledger.get(delivery.id);
  }
}
