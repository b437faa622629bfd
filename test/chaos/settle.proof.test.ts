import { expect, it } from 'vitest';
import { settle, standingStill, type Progress } from './settle.ts';

const AT_REST: Progress = { counts: { SENT: 2, IN_DOUBT: 1 }, unread: [], behind: [] };
const WAITS: Progress = { counts: { SENT: 2, WAITING: 1 }, unread: [], behind: [] };
const UNREAD: Progress = { counts: { SENT: 3 }, unread: ['carillon.events/3: 7 of 9 read'], behind: [] };
const BEHIND: Progress = { ...AT_REST, behind: ['control on carillon.outcomes/1: 4 of 5 read'] };

/** One look after the other; the last one again and again. */
function looks(...course: readonly Progress[]): () => Promise<Progress> {
  const coming = [...course];
  return () => Promise.resolve((coming.length > 1 ? coming.shift() : coming[0]) ?? AT_REST);
}

it('A system that needs no help comes to rest, and nothing is reported', async () => {
  const settled = await settle(looks(UNREAD, WAITS, BEHIND, AT_REST), { since: Date.now(), slots: 3 });
  expect(settled.open).toEqual([]);
  expect(standingStill(settled)).toEqual([]);
});

it('Work that needs a restart is reported: open deliveries, unread records, missing deliveries', async () => {
  const now = { since: Date.now(), standstill: 0, quiet: 0 };
  const left = async (last: Progress, slots = 0) =>
    standingStill(await settle(looks(last), { ...now, slots })).map(({ kind, what }) => `${kind}: ${what}`);
  const still = 'stuck: it does not go on in this life:';
  expect(await left(WAITS)).toEqual([`${still} 1 WAITING, 0 SENDING`]);
  expect(await left(UNREAD)).toEqual([`${still} carillon.events/3: 7 of 9 read`]);
  expect(await left(BEHIND)).toEqual([`${still} ${BEHIND.behind.join()}`]);
  expect(await left(AT_REST, 4)).toEqual([`${still} 3 of 4 deliveries are there`]);
});

it('Waiting for rest ends when nothing moves any more, and its time counts to the last movement', async () => {
  const since = Date.now() - 70_000;
  const settled = await settle(looks(WAITS, UNREAD), { since, standstill: 300 });
  expect(settled.open).toEqual(UNREAD.unread);
  expect(settled.after).toBeGreaterThanOrEqual(70_000);
});

it('The minute ends when everything has ended: projections may come later, and are waited for', async () => {
  const since = Date.now() - 10_000;
  const slow = [...Array.from({ length: 3 }, (_, at) => ({ ...AT_REST, behind: [`${at} of 5 read`] })), AT_REST];
  const settled = await settle(looks(...slow), { since, slots: 3 });
  expect(settled.open).toEqual([]);
  expect(Date.now() - since - settled.after).toBeGreaterThanOrEqual(500);
});

it('A rest that the next look does not confirm is no rest: waiting goes on', async () => {
  const since = Date.now() - 10_000;
  const settled = await settle(looks(UNREAD, AT_REST, WAITS, WAITS, WAITS, AT_REST), { since });
  expect(settled.open).toEqual([]);
  expect(settled.after).toBeGreaterThanOrEqual(11_000);
});

it('Waiting continues while projections are behind', async () => {
  const since = Date.now() - 10_000;
  const settled = await settle(looks(BEHIND, WAITS, WAITS, WAITS, AT_REST), { since });
  expect(settled.after).toBeGreaterThanOrEqual(10_750);
});
