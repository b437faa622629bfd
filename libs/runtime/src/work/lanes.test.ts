import { describe, expect, it } from 'vitest';
import { createLanes, type WorkBounds } from './lanes.ts';

const MANY = 1_000_000;
type Piece = { readonly id: string; readonly owner: string; readonly bytes: number };

const piece = (name: string, owner = 'shop', bytes = 1_000): Piece => ({ id: `${owner}_${name}`, owner, bytes });
const many = (count: number, owner: string): readonly Piece[] =>
  Array.from({ length: count }, (_, index) => piece(`${index}`, owner));

/** Creates queues whose calls have one piece each, with the names of the queues. */
function given(bounds: WorkBounds = { bytes: MANY }) {
  const lanes = createLanes<Piece>({
    idOf: ({ id }) => id,
    bytesOf: ({ bytes }) => bytes,
    ownerOf: ({ owner }) => owner,
    bounds,
  });
  const calls = new Map<string, readonly Piece[]>();
  return {
    lanes,
    add: (lane: string, one: Piece) => lanes.add(lane, one, 0),
    take: (lane: string): Piece | undefined => {
      const call = lanes.take(lanes.laneOf(lane));
      const [first] = call;
      if (first) calls.set(first.id, call);
      return first;
    },
    forget: (lane: string, id: string) => lanes.forget(lanes.laneOf(lane), calls.get(id) ?? []),
  };
}

describe('lanes', () => {
  it('alternate between owners: a piece waits for at most one of each other owner', () => {
    const { add, take } = given();
    for (const one of many(200, 'busy')) add('main', one);
    take('main');
    add('main', piece('only', 'calm'));
    expect([take('main'), take('main')].map((one) => one?.owner)).toContain('calm');
  });

  it('keep the order of an owner’s pieces', () => {
    const { add, take } = given();
    for (const one of [...many(3, 'a'), ...many(3, 'b')]) add('main', one);
    const taken = Array.from({ length: 6 }, () => take('main')?.id);
    expect(taken).toEqual(['a_0', 'b_0', 'a_1', 'b_1', 'a_2', 'b_2']);
  });

  it('hold each piece once, also while it runs, and accept it again afterwards', () => {
    const { lanes, add, take, forget } = given();
    const one = piece('x');
    expect([add('main', one), add('main', one), add('other', one)]).toEqual(['taken', 'known', 'known']);
    take('main');
    expect(add('main', one)).toBe('known');
    forget('main', one.id);
    expect([lanes.waitingOf('shop'), lanes.bytes(), lanes.laneOf('main').held]).toEqual([0, 0, 0]);
    expect(add('main', one)).toBe('taken');
  });

  it('stay within a bound in bytes, but accept a single large piece', () => {
    const { lanes, add, take } = given({ bytes: 10_000 });
    expect(add('main', piece('large', 'a', 50_000))).toBe('taken');
    expect(add('main', piece('small', 'a'))).toBe('full');
    take('main');
    expect(add('main', piece('small', 'a'))).toBe('taken');
    for (const one of many(50, 'b')) add('main', one);
    expect(lanes.bytes()).toBeLessThanOrEqual(10_000);
    expect(lanes.waitingOf('b')).toBe(9);
  });

  it('leave room for every lane if one fills the memory, and limit each to its share', () => {
    const { lanes, add } = given({ bytes: 10_000, ofLane: { bytes: 4_000, pieces: 3 } });
    for (const one of many(5, 'a')) add('a', one);
    expect(lanes.waitingOf('a')).toBe(3);
    expect([add('b', piece('0', 'b', 3_500)), add('b', piece('1', 'b'))]).toEqual(['taken', 'full']);
    for (const one of many(4, 'c')) add('c', one);
    expect([add('d', piece('0', 'd', 9_000)), add('d', piece('1', 'd'))]).toEqual(['taken', 'full']);
  });

  it('count running pieces as held until their result is stored, and forget lost ones', () => {
    const { lanes } = given();
    const [a, b] = [piece('a'), piece('b')];
    const lane = lanes.laneOf('main');
    for (const one of [a, b]) lanes.add('main', one, 0);
    const [first, second] = [lanes.take(lane), lanes.take(lane)];
    const leased = { ...a, bytes: 7 };
    lanes.narrow(lane, first, [leased]);
    lanes.narrow(lane, second, []);
    expect([lane.held, [...lane.underWay]]).toEqual([1_000, [[leased]]]);
    expect([lanes.isKnown(a.id), lanes.isKnown(b.id)]).toEqual([true, false]);
  });

  it('leave waiting pieces, but not running ones, to the store if a lane cannot run', () => {
    const { lanes, add, take } = given();
    for (const one of [...many(2, 'a'), ...many(2, 'b')]) add('main', one);
    take('main');
    expect(lanes.clear(lanes.laneOf('main')).toSorted()).toEqual(['a', 'b']);
    expect([lanes.bytes(), lanes.laneOf('main').waiting, lanes.isKnown('a_0'), lanes.isKnown('a_1')]).toEqual([
      0,
      0,
      true,
      false,
    ]);
  });
});
