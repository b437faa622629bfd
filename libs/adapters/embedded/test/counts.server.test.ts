import { deliveryOf } from '@carillon/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEmbedded, type Embedded } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

let folder = temporaryFolder();
let embedded: Embedded;
beforeEach(async () => {
  folder = temporaryFolder();
  embedded = await openEmbedded({ dataDir: folder.path, clock: wallClock });
});
afterEach(async () => {
  await embedded.close();
  folder.remove();
});

const HOURS = 8;
const HOUR = 3_600_000;
const span = { workspace: 'shop', since: 0, before: HOURS * HOUR };

/** How often others had their turn while something was counted. */
async function turnsDuring(count: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  await count();
  clearImmediate(next);
  return turns;
}

it('a span is counted hour by hour, and whoever waits for the process has a turn after each', async () => {
  const { ledger } = embedded;
  const hours = Array.from({ length: HOURS }, (_, at) => at);
  await ledger.insert(
    hours.map((at) =>
      deliveryOf({
        slot: { workspace: 'shop', uniqueId: `o${at}` },
        intent: { person: `p${at % 3}` },
        state: 'SENT',
        createdAt: at * HOUR,
      }),
    ),
  );
  expect(await turnsDuring(() => ledger.countOverTime(span, HOUR))).toBeGreaterThanOrEqual(HOURS);
  expect(await turnsDuring(() => ledger.countByNotification(span))).toBeGreaterThanOrEqual(HOURS);
  expect(await turnsDuring(() => ledger.countPeople(span, ['SENT']))).toBeGreaterThanOrEqual(HOURS);
  expect(await ledger.countPeople(span, ['SENT'])).toBe(3);
});
