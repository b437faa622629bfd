import { expect, it } from 'vitest';
import { settle, standingStill, type Progress } from './settle.ts';

const AT_REST: Progress = { counts: { SENT: 2, IN_DOUBT: 1 }, unread: [] };
const WAITS: Progress = { counts: { SENT: 2, WAITING: 1 }, unread: [] };
const UNREAD: Progress = { counts: { SENT: 3 }, unread: ['carillon.events/3: 7 of 9 read'] };

/** One look after the other; the last one again and again. */
function looks(...course: readonly Progress[]): () => Promise<Progress> {
  const coming = [...course];
  return () => Promise.resolve((coming.length > 1 ? coming.shift() : coming[0]) ?? AT_REST);
}

it('What goes on by itself comes to rest, and nothing is found', async () => {
  const settled = await settle(looks(UNREAD, WAITS, AT_REST), { since: Date.now(), slots: 3 });
  expect(settled.left).toEqual([]);
  expect(standingStill(settled)).toEqual([]);
});

it('What would need a restart is found: open deliveries, records that nobody reads, and deliveries that are missing', async () => {
  const now = { since: Date.now(), standstill: 0, quiet: 0 };
  const left = async (last: Progress, slots = 0) =>
    standingStill(await settle(looks(last), { ...now, slots })).map(({ kind, what }) => `${kind}: ${what}`);
  const still = 'stuck: it does not go on in this life:';
  expect(await left(WAITS)).toEqual([`${still} 1 WAITING, 0 SENDING`]);
  expect(await left(UNREAD)).toEqual([`${still} carillon.events/3: 7 of 9 read`]);
  expect(await left(AT_REST, 4)).toEqual([`${still} 3 of 4 deliveries are there`]);
});

it('Who stands still is given up, and the time counts to the last that moved', async () => {
  const since = Date.now() - 70_000;
  const settled = await settle(looks(WAITS, UNREAD), { since, standstill: 300 });
  expect(settled.left).toEqual(UNREAD.unread);
  expect(settled.after).toBeGreaterThanOrEqual(70_000);
});
