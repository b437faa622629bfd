/**
 * Opens the data folder given, takes deliveries into custody and moves each to its end, telling of it in the commit of the move, from
 * eight callers at once and until somebody ends it. Writes the id of each that it finished to stdout. The tests kill it in the middle.
 */
import { deliveryOf, outcomeOf } from '@carillon/testing';
import { openEmbedded } from '../src/index.ts';

/** Waits while the test is too busy to read, so that a full pipe does not end the process. */
const say = (line: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${line}\n`, () => resolve());
  });

const embedded = await openEmbedded({ dataDir: process.argv[2] ?? '', clock: { now: () => Date.now() } });

async function moveAll(caller: number): Promise<never> {
  for (;;) {
    const first = deliveryOf();
    await embedded.ledger.insert([first]);
    const sending = { ...first, version: 2, state: 'SENDING', nextAt: null, leaseUntil: 130 } as const;
    await embedded.ledger.replace(sending);
    const sent = { ...sending, version: 3, state: 'SENT', leaseUntil: null, unpublished: [outcomeOf(first)] } as const;
    const value = new TextEncoder().encode(first.id);
    const record = { topic: 'carillon.outcomes', partition: caller, key: 'k', value, headers: {} } as const;
    await embedded.ledger.replace(sent, { telling: () => [record] });
    await say(first.id);
  }
}
await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(moveAll));
