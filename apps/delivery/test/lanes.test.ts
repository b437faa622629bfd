import { describe, expect, it } from 'vitest';
import type { Delivery } from '@carillon/domain';
import type { DeliveryId } from '@carillon/kernel';
import { DeliveryStory, givenIntent } from '@carillon/testing/given';
import { createLanes } from '../src/lanes.ts';

const MANY = 1_000_000;
function delivery(name: string, workspace = 'shop', text = ''): Delivery {
  const intent = givenIntent(name, { variables: { text } });
  const slot = { ...intent.slot, workspace, uniqueId: name };
  return { ...new DeliveryStory(intent).delivery, id: `dlv_${workspace}_${name}` as DeliveryId, slot };
}
const many = (count: number, workspace: string) =>
  Array.from({ length: count }, (_, index) => delivery(`${index}`, workspace));

describe('lanes', () => {
  it('give workspaces their turns: one delivery waits for one of each other, however many those have', () => {
    const lanes = createLanes(MANY);
    for (const one of many(200, 'busy')) lanes.add('main', one);
    lanes.take('main', 300);
    lanes.add('main', delivery('only', 'calm'));
    const next = [lanes.take('main', 300), lanes.take('main', 300)].map((one) => one?.slot.workspace);
    expect(next).toContain('calm');
  });

  it('keep the order within a workspace', () => {
    const lanes = createLanes(MANY);
    for (const one of [...many(3, 'a'), ...many(3, 'b')]) lanes.add('main', one);
    const taken = Array.from({ length: 6 }, () => lanes.take('main', 10)?.id);
    expect(taken).toEqual(['dlv_a_0', 'dlv_b_0', 'dlv_a_1', 'dlv_b_1', 'dlv_a_2', 'dlv_b_2']);
  });

  it('hold back what an account has no place for, and no other account', () => {
    const lanes = createLanes(MANY);
    for (const one of many(3, 'a')) lanes.add('slow', one);
    lanes.add('quick', delivery('x', 'b'));
    expect(lanes.take('slow', 1)).toBeDefined();
    expect(lanes.take('slow', 1)).toBeUndefined();
    expect(lanes.take('quick', 1)?.slot.workspace).toBe('b');
    lanes.done('slow', 'dlv_a_0');
    expect(lanes.take('slow', 1)?.id).toBe('dlv_a_1');
  });

  it('give the place of one on to the next while its outcome goes to the log, but not without end', () => {
    const lanes = createLanes(MANY);
    for (const one of many(20, 'a')) lanes.add('main', one);
    const called: string[] = [];
    for (let next = lanes.take('main', 1); next; next = lanes.take('main', 1)) {
      expect(lanes.take('main', 1)).toBeUndefined();
      lanes.called('main', next.id);
      called.push(next.id);
    }
    expect([called.length, lanes.waiting()]).toEqual([8, 12]);
    expect(lanes.add('main', delivery('0', 'a'))).toBe(false);
    lanes.done('main', 'dlv_a_0');
    expect(lanes.take('main', 1)?.id).toBe('dlv_a_8');
    expect(lanes.take('main', 1)).toBeUndefined();
  });

  it('take a delivery once, also while it is under way, and again when it is done', () => {
    const lanes = createLanes(MANY);
    const one = delivery('x');
    expect([lanes.add('main', one), lanes.add('main', one), lanes.add('other', one)]).toEqual([true, false, false]);
    lanes.take('main', 1);
    expect(lanes.add('main', one)).toBe(false);
    lanes.done('main', one.id);
    expect([lanes.waiting(), lanes.bytes()]).toEqual([0, 0]);
    expect(lanes.add('main', one)).toBe(true);
  });

  it('stay within one bound in bytes, but let a single large one through', () => {
    const lanes = createLanes(10_000);
    expect(lanes.add('main', delivery('large', 'a', 'x'.repeat(50_000)))).toBe(true);
    expect(lanes.add('main', delivery('small', 'a'))).toBe(false);
    lanes.take('main', 1);
    expect(lanes.add('main', delivery('small', 'a'))).toBe(true);
    for (const one of many(50, 'b')) lanes.add('main', one);
    expect(lanes.bytes()).toBeLessThanOrEqual(10_000);
    expect(lanes.full()).toBe(true);
  });
});
