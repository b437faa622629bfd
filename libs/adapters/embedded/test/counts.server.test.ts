import { createErasureMatcher, nameHash } from '@carillon/domain/erasures';
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

/** One more message in each hour. */
const send = () =>
  embedded.ledger.insert(
    Array.from({ length: HOURS }, (_, at) =>
      deliveryOf({
        slot: { workspace: 'shop' },
        intent: { person: `p${at % 3}` },
        state: 'SENT',
        createdAt: at * HOUR,
      }),
    ),
  );

it('counting deliveries of a time range reads it in pieces, and yields to the event loop after each', async () => {
  const { ledger } = embedded;
  for (const count of [
    () => ledger.countOverTime(span, HOUR),
    () => ledger.countByNotification(span),
    () => ledger.countPeople(span, ['SENT']),
  ]) {
    await send();
    expect(await turnsDuring(count)).toBeGreaterThanOrEqual(HOURS);
  }
  expect(await ledger.countPeople(span, ['SENT'])).toBe(3);
});

it('counting deliveries again reads only those minutes in which a delivery changed', async () => {
  const { ledger } = embedded;
  const delivery = deliveryOf({ slot: { workspace: 'shop' }, createdAt: HOUR });
  await ledger.insert([delivery]);
  const counts = [() => ledger.countByNotification(span), () => ledger.countPeople(span, ['WAITING', 'SENT'])] as const;
  for (const count of counts) await count();
  const [byNotification, people] = [await turnsDuring(counts[0]), await turnsDuring(counts[1])];
  // Far fewer than there are pieces, and more than none: what is kept takes its time too.
  for (const turns of [byNotification, people]) {
    expect(turns).toBeGreaterThan(0);
    expect(turns).toBeLessThan(HOURS);
  }
  await ledger.replace({ ...delivery, version: 2, state: 'SENT', nextAt: null });
  expect(await turnsDuring(counts[0])).toBe(byNotification + 1);
  expect(await turnsDuring(counts[1])).toBe(people + 1);
  expect(await ledger.countOverTime(span, HOUR)).toEqual([{ at: HOUR, state: 'SENT', deliveries: 1 }]);
});

it('an erasure that cancels a waiting message causes the minute of that message to be counted again', async () => {
  const { ledger, erasure } = embedded;
  await ledger.insert([deliveryOf({ slot: { workspace: 'shop' }, intent: { person: 'bob' }, createdAt: HOUR })]);
  expect(await ledger.countOverTime(span, HOUR)).toEqual([{ at: HOUR, state: 'WAITING', deliveries: 1 }]);
  const keyed = (...parts: readonly string[]): string => parts.join('-');
  const matcher = createErasureMatcher({ workspace: 'shop', hashes: [nameHash('bob', keyed)] }, keyed);
  const work = {
    matcher,
    isOfPerson: () => false,
    isEntityOfPerson: () => false,
    isErasedEvent: () => false,
    judge: async () => null,
  };
  const moment = { now: 2 * HOUR, derive: (...parts: readonly string[]) => parts.join('-') };
  for await (const entries of erasure.entries(work, moment)) for (const entry of entries) await entry.erase();
  expect(await ledger.countOverTime(span, HOUR)).toEqual([{ at: HOUR, state: 'CANCELLED', deliveries: 1 }]);
  expect(await ledger.countPeople(span, ['WAITING'])).toBe(0);
});
