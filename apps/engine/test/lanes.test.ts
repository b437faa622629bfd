import { newAsking, type LookupIntegration } from '@carillon/domain';
import type { TriggerId } from '@carillon/kernel';
import { newTask, readTask, type AskTask } from '@carillon/stages';
import { givenTrigger } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { createLanes } from '../src/asking/lanes.ts';

const CRM: LookupIntegration = {
  kind: 'lookup',
  url: 'https://crm.example.com',
  authorization: { key: { secret: 'KEY' } },
};
const MANY = 64 * 1024 * 1024;
const NOW = 1_000;

function waiting(id: string, alone = false): AskTask {
  const trigger = givenTrigger({ id: `trg_${id}` as TriggerId });
  const asking = { ...newAsking(trigger, { partition: 0, offset: 0, key: id }, []), alone };
  return readTask(newTask(trigger, asking, NOW));
}

/** Lanes in which these wait, and a way to take the next call of the only one. */
function given(...tasks: readonly AskTask[]) {
  const lanes = createLanes(MANY);
  for (const task of tasks) lanes.add(task, NOW);
  const lane = lanes.laneOf(tasks[0]?.task.kind ?? '');
  const take = (most: number): readonly AskTask[] => lanes.take(lane, CRM, NOW, most, 0);
  return { lanes, lane, take };
}
const idsOf = (tasks: readonly AskTask[]): readonly string[] => tasks.map(({ task }) => task.id);

describe('triggers that wait for a partner', () => {
  it('are taken in their order, one for each call where items cannot be told apart', () => {
    const { take } = given(waiting('a'), waiting('b'), waiting('c'));
    expect([take(8), take(8), take(8), take(8)].map(idsOf)).toEqual([['trg_a'], ['trg_b'], ['trg_c'], []]);
  });

  it('are taken past those that are to be asked alone while no more of these may be', () => {
    const { lane, take } = given(waiting('a'), waiting('alone', true), waiting('b'), waiting('lonely', true));
    expect([take(1), take(1), take(1), take(1)].map(idsOf)).toEqual([['trg_alone'], ['trg_a'], ['trg_b'], []]);
    lane.apart.clear();
    expect([take(1), take(1)].map(idsOf)).toEqual([['trg_lonely'], []]);
  });

  it('are held in memory from their lease until they are forgotten', () => {
    const { lanes, lane, take } = given(waiting('a'), waiting('b'));
    expect([lane.held, lanes.bytes() > 0]).toEqual([0, true]);
    const [first, second] = [take(8), take(8)];
    expect([lanes.bytes(), lane.bytes, lane.waiting]).toEqual([0, 0, []]);
    const both = lane.held;
    lanes.forget(first);
    expect(lane.held).toBe(both / 2);
    expect([lanes.isKnown('trg_a'), lanes.isKnown('trg_b')]).toEqual([false, true]);
    lanes.forget(second);
    expect(lane.held).toBe(0);
  });
});
