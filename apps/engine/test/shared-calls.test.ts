import type { LookupIntegration } from '@carillon/domain/configuration';
import { newAsking } from '@carillon/domain/lookups';
import type { TriggerId } from '@carillon/kernel';
import { createLanes } from '@carillon/runtime';
import { newTask, readTask, type AskTask } from '@carillon/stages';
import { givenTrigger } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { pickCall } from '../src/asking/shared-calls.ts';

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
  let mostAlone = 0;
  const lanes = createLanes<AskTask>({
    idOf: ({ task }) => task.id,
    bytesOf: ({ task }) => task.data.length,
    ownerOf: ({ task }) => task.queue.name,
    bounds: { bytes: MANY },
    pick: (some, { underWay }) =>
      pickCall(some, { underWay }, { integration: CRM, now: NOW, most: mostAlone, chance: 0 }),
  });
  for (const task of tasks) lanes.add('crm', task, NOW);
  const lane = lanes.laneOf('crm');
  const take = (most: number): readonly AskTask[] => {
    mostAlone = most;
    return lanes.take(lane);
  };
  return { lanes, lane, take };
}
const idsOf = (tasks: readonly AskTask[]): readonly string[] => tasks.map(({ task }) => task.id);

describe('triggers that wait for a partner', () => {
  it('are taken in order, one per call if the answer cannot be matched to items', () => {
    const { take } = given(waiting('a'), waiting('b'), waiting('c'));
    expect([take(8), take(8), take(8), take(8)].map(idsOf)).toEqual([['trg_a'], ['trg_b'], ['trg_c'], []]);
  });

  it('are taken past triggers that must be asked alone, while one of these is under way', () => {
    const { lanes, lane, take } = given(waiting('a'), waiting('alone', true), waiting('b'), waiting('lonely', true));
    const alone = take(1);
    expect([alone, take(1), take(1), take(1)].map(idsOf)).toEqual([['trg_alone'], ['trg_a'], ['trg_b'], []]);
    lanes.forget(lane, alone);
    expect([take(1), take(1)].map(idsOf)).toEqual([['trg_lonely'], []]);
  });

  it('are held in memory from their lease until they are forgotten', () => {
    const { lanes, lane, take } = given(waiting('a'), waiting('b'));
    expect([lane.held, lanes.bytes() > 0]).toEqual([0, true]);
    const [first, second] = [take(8), take(8)];
    expect([lanes.bytes(), lane.bytes, lane.waiting]).toEqual([0, 0, 0]);
    const both = lane.held;
    lanes.forget(lane, first);
    expect(lane.held).toBe(both / 2);
    expect([lanes.isKnown('trg_a'), lanes.isKnown('trg_b')]).toEqual([false, true]);
    lanes.forget(lane, second);
    expect(lane.held).toBe(0);
  });
});
