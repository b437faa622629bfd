import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryLedger, Replacing } from '@carillon/ports';
import { outcomeRecords, publishOutcomes, type Amend, type OutcomePorts } from './outcomes.ts';
import { publishInBatches } from './publisher.ts';

/** A delivery after its transition. */
export type Transition = {
  readonly delivery: Delivery;
  /**
   * Resolves when the outcome is on the log. Rejects if the log or the ledger failed; the sweeper then publishes the outcome
   * later. A caller that does not wait may ignore it.
   */
  readonly published: Promise<void>;
};

export type TransitionOptions = Pick<Replacing, 'together'> & {
  /** Publishes the outcome together with others, when the work of the batch ends. By default publishing starts at once. */
  readonly batch?: PublicationBatch;
};

/**
 * Moves a delivery by compare-and-set and publishes the outcome: every change of a delivery's state goes through here. If ledger
 * and log are one store, both happen in one commit. Otherwise the outcome waits in `unpublished` of the document, is appended, and is
 * then removed. Resolves when the move is durable. Returns null if the document changed in the meantime.
 */
export async function transitionAndPublish(
  next: Delivery,
  ports: OutcomePorts,
  { batch, ...how }: TransitionOptions = {},
): Promise<Transition | null> {
  const answer = await ports.ledger.replace(next, { ...how, telling: () => outcomeRecords(next, ports) });
  if (answer === 'stale') return null;
  return publish(answer === 'told' ? { ...next, unpublished: [] } : next, ports, batch);
}

/** Publishes what a delivery still has unpublished, after a write whose answer was lost. */
export function publish(delivery: Delivery, ports: OutcomePorts, batch?: PublicationBatch): Transition {
  const published = batch ? batch.add(delivery) : publishInBatches(delivery, ports);
  // The caller may ignore the failure, because the sweeper repairs it.
  published.catch(() => undefined);
  return { delivery, published };
}

/** Inserts deliveries, and publishes the outcomes of those that ended on arrival. */
export async function insertAndPublish(
  deliveries: readonly Delivery[],
  ports: OutcomePorts,
  batch: PublicationBatch,
): ReturnType<DeliveryLedger['insert']> {
  const inserted = await ports.ledger.insert(deliveries);
  for (const [index, delivery] of deliveries.entries()) {
    if (inserted[index]?.inserted === true) publish(delivery, ports, batch);
  }
  return inserted;
}

/**
 * Writes a change that makes no outcome, such as a renewed lease or the step into SENDING.
 * Throws TypeError if the change makes one, because nobody would publish it before the sweeper.
 */
export async function rewriteDelivery(
  before: Delivery,
  next: Delivery,
  ledger: Pick<DeliveryLedger, 'replace'>,
  how: Pick<Replacing, 'together'> = {},
): Promise<'done' | 'stale'> {
  if (next.unpublished !== before.unpublished) {
    throw new TypeError(`a change of delivery ${next.id} has an outcome; use transitionAndPublish`);
  }
  return (await ledger.replace(next, how)) === 'stale' ? 'stale' : 'done';
}

/** Deliveries whose outcomes are published together. */
export type PublicationBatch = {
  /** The newest document of a delivery counts. The promise settles with the publication of the whole batch. */
  add(delivery: Delivery): Promise<void>;
};

/**
 * Runs `work`, then publishes the outcomes of all its transitions in one append, even if `work` throws. Resolves when the
 * outcomes are on the log. `amend` changes each document in the write that removes its outcomes.
 */
export async function publishTogether<Value>(
  ports: OutcomePorts,
  work: (batch: PublicationBatch) => Promise<Value>,
  amend?: Amend,
): Promise<Value> {
  const newest = new Map<string, Delivery>();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  const batch: PublicationBatch = {
    add(delivery) {
      newest.set(delivery.id, delivery);
      return promise;
    },
  };
  try {
    return await work(batch);
  } finally {
    await publishOutcomes([...newest.values()], ports, amend).then(() => resolve(), reject);
    await promise;
  }
}
