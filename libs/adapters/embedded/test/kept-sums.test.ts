import { deliveryOf } from '@carillon/testing';
import { expect, it } from 'vitest';
import { createKeptSums, piecesOf } from '../src/stores/kept-sums.ts';

const MINUTE = 60_000;
const [piece] = piecesOf('shop', 0, MINUTE, MINUTE);
if (!piece) throw new Error('a minute is a piece');
const delivery = deliveryOf({ slot: { workspace: 'shop' }, createdAt: 1 });
const counts = new Map([['order-paid', Uint32Array.of(1)]]);

it('the cache of message counts does not keep pieces that a time range covers only in part', () => {
  const pieces = piecesOf('shop', MINUTE - 1, 3 * MINUTE + 1, MINUTE);
  expect(pieces.map(({ from, until, place }) => [from, until, place !== null])).toEqual([
    [MINUTE - 1, MINUTE, false],
    [MINUTE, 2 * MINUTE, true],
    [2 * MINUTE, 3 * MINUTE, true],
    [3 * MINUTE, 3 * MINUTE + 1, false],
  ]);
});

it('the cache of message counts keeps no piece of before a write until all of its writes have ended, also failed ones', async () => {
  const kept = createKeptSums();
  const sums = kept.sums();
  sums.keepCounts(piece, counts);
  expect(sums.of(piece)?.counts).toBe(counts);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const writes = [first, second].map(({ promise }) => kept.writing([delivery], () => promise));
  const isKept = (): boolean => {
    sums.keepCounts(piece, counts);
    return sums.of(piece) !== undefined;
  };
  expect(isKept()).toBe(false);
  first.resolve();
  await writes[0];
  expect(isKept()).toBe(false);
  second.reject(new Error('the disk is full'));
  await expect(writes[1]).rejects.toThrow('the disk is full');
  expect(sums.of(piece)).toBeUndefined();
  expect(isKept()).toBe(true);
});

it('a full cache of message counts is emptied for the next request, while a running request keeps its numbers of people', () => {
  const kept = createKeptSums(2000);
  const sums = kept.sums();
  expect(['ada', 'bob', 'ada'].map(sums.numberOf)).toEqual([0, 1, 0]);
  sums.keepPeople(piece, 'SENT', Uint32Array.of(0, 1));
  expect(kept.sums()).toBe(sums);
  for (let at = 0; at < 30; at += 1) sums.numberOf(`person ${at}`);
  const fresh = kept.sums();
  expect([fresh.of(piece), fresh.numbered(), fresh.bytes()]).toEqual([undefined, 0, 0]);
  expect([sums.numberOf('bob'), sums.of(piece)?.people.get('SENT')]).toEqual([1, Uint32Array.of(0, 1)]);
});

it('removed counts no longer count towards the size of the cache of message counts', async () => {
  const kept = createKeptSums();
  kept.sums().keepCounts(piece, counts);
  expect(kept.sums().bytes()).toBeGreaterThan(0);
  await kept.writing([delivery], async () => undefined);
  expect(kept.sums().bytes()).toBe(0);
});
