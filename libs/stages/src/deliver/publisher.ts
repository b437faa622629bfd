import type { Delivery } from '@carillon/domain/deliveries';
import type { EventLog } from '@carillon/ports';
import { publishOutcomes, type OutcomePorts } from './outcomes.ts';

type Waiting = {
  readonly delivery: Delivery;
  readonly ports: OutcomePorts;
  resolve(): void;
  reject(error: unknown): void;
};

/** Deliveries per append; the rest waits for the next append. */
const BATCH_SIZE = 200;

/**
 * Publishes the outcomes of a delivery. Deliveries that arrive while an append to the same log runs share the next append; no
 * timer is involved. Rejects if the log or the ledger fails; the sweeper then publishes the outcomes later.
 */
export function publishInBatches(delivery: Delivery, ports: OutcomePorts): Promise<void> {
  if (delivery.unpublished.length === 0) return Promise.resolve();
  return new Promise((resolve, reject) => queueOf(ports.log)({ delivery, ports, resolve, reject }));
}

const queues = new WeakMap<EventLog, (entry: Waiting) => void>();
function queueOf(log: EventLog): (entry: Waiting) => void {
  const queue = queues.get(log) ?? createQueue();
  queues.set(log, queue);
  return queue;
}

function createQueue(): (entry: Waiting) => void {
  const waiting: Waiting[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) await publishBatch(waiting.splice(0, BATCH_SIZE));
    running = false;
  }

  return (entry) => {
    waiting.push(entry);
    if (!running) void run();
  };
}

async function publishBatch(batch: readonly Waiting[]): Promise<void> {
  const [first] = batch;
  if (!first) return;
  try {
    await publishOutcomes(
      batch.map(({ delivery }) => delivery),
      first.ports,
    );
    for (const entry of batch) entry.resolve();
  } catch (error) {
    for (const entry of batch) entry.reject(error);
  }
}
