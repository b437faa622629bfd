import type { DeadLetterRow } from '@carillon/ports';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { countLeavingLetters } from '../src/leaving-letters.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KEPT = 30 * DAY;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

function letter(id: number, at: number): DeadLetterRow {
  const place = { topic: 'carillon.events', partition: 0, offset: id, ownPartition: 0, ownOffset: id } as const;
  const open = { redrivenAt: null, redrivenBy: null, dismissedAt: null, dismissedBy: null, receipt: null };
  return { id: `ddl_${id}`, workspace: 'shop', stage: 'evaluate', reason: 'unreadable', at, ...place, ...open };
}

it('Leaving dead letters are dated by the oldest, also if more leave than are counted', async () => {
  const { clock, data } = topology;
  const first = clock.now();
  const deadLetters = [letter(0, first), ...Array.from({ length: 600 }, (_, id) => letter(id + 1, first + DAY + id))];
  await data.readModels.put({ deadLetters });
  clock.pass(KEPT - 2 * DAY);
  const leaving = await countLeavingLetters(
    { workspace: 'shop' },
    { readModels: data.readModels, clock, deadLettersKept: () => KEPT },
  );
  expect(leaving?.count).toBe(500);
  expect(Math.abs((leaving?.from ?? 0) - (first + KEPT))).toBeLessThan(HOUR);
});
