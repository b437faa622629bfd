import type { Delivery } from '@carillon/domain';
import { publishOutcomes, type OutcomePorts } from './outcomes.ts';

type Waiting = { readonly delivery: Delivery; resolve(): void; reject(error: unknown): void };

/** So many are told of in one append; what is left waits for the next. */
const AT_ONCE = 200;

/**
 * Tells of moves in batches: what moves while a batch is on its way goes with the next one, in one append, and is forgotten together.
 * Nothing waits for a timer. What a batch fails with, each of it gets, and the sweeper tells of it later.
 */
export function createPublisher(ports: OutcomePorts): (delivery: Delivery) => Promise<void> {
  const waiting: Waiting[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, AT_ONCE);
      try {
        await publishOutcomes(
          batch.map(({ delivery }) => delivery),
          ports,
        );
        for (const one of batch) one.resolve();
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    running = false;
  }

  return (delivery) => {
    if (delivery.unpublished.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      waiting.push({ delivery, resolve, reject });
      if (!running) void run();
    });
  };
}
