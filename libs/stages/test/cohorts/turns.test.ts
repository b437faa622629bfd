import { cohortKey, type CohortMessage } from '@carillon/domain';
import type { EventId } from '@carillon/kernel';
import type { BatchResult, LogRecord, PartitionState, Turns } from '@carillon/ports';
import { BUYERS, cohortMessage, oneLongTurn, shortestTurns } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCohortsStage, MEMBERS_AT_ONCE } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const START: PartitionState = { partition: 0, configNumber: -1, clocks: {} };
const messages = (): Promise<LogRecord[]> => topology.records('carillon.cohorts');
const follow = (records: readonly LogRecord[], turns: Turns): Promise<BatchResult> =>
  createCohortsStage({ ...topology.ports, turns }).handle(records, START);
const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `user-${at}`);
const numbered = (number: number): Pick<CohortMessage, 'id'> => ({
  id: `evt_${String(number).padStart(26, '0')}` as EventId,
});
const eventsOf = ({ outputs }: BatchResult): unknown[] =>
  outputs.map(({ topic, key, value, headers }) => [topic, key, headers, [...value]]);

describe('a message with many members', () => {
  it('gives way between those who enter, and where members are read and written', async () => {
    const chunks = 3;
    const users = many(chunks * MEMBERS_AT_ONCE);
    await topology.saysOfCohort(cohortMessage({ userIds: users }));
    const turns = shortestTurns();
    const first = await follow(await messages(), turns);
    expect(first.outputs).toHaveLength(users.length);
    expect(turns.ended).toBeGreaterThanOrEqual(users.length + chunks);
    const read = turns.ended;
    expect(await first.save?.()).toBe('done');
    expect(turns.ended - read).toBeGreaterThanOrEqual(chunks);
    // Nobody enters again: what is left is to read who is in, and to note in the cohort that they were named.
    await topology.saysOfCohort({ ...cohortMessage({ userIds: users }), ...numbered(2) });
    const idle = shortestTurns();
    const again = await follow((await messages()).slice(1), idle);
    expect(again.outputs).toEqual([]);
    expect(await again.save?.()).toBe('done');
    expect((await topology.data.cohorts.load(BUYERS))?.offset).toBe(1);
    expect(await topology.data.cohorts.members(BUYERS, ['user-7']), 'as the first message wrote it').toMatchObject([
      { inside: true, offset: 0 },
    ]);
    expect(idle.ended).toBeGreaterThanOrEqual(chunks);
  });

  it('comes to the same whatever the turns are', async () => {
    await topology.saysOfCohort(cohortMessage({ userIds: many(50) }));
    const records = await messages();
    expect(eventsOf(await follow(records, shortestTurns()))).toEqual(eventsOf(await follow(records, oneLongTurn)));
  });
});

describe('a batch of many messages', () => {
  it('ends after some turns, and the rest come again', async () => {
    const users = many(60);
    await topology.saysOfCohort(
      ...users.map((user, at) => ({ ...cohortMessage({ userIds: [user] }), ...numbered(at) })),
    );
    const records = await messages();
    const whole = await follow(records, oneLongTurn);
    expect(whole.fates).toHaveLength(users.length);
    const parts: BatchResult[] = [];
    for (let done = 0; done < records.length; done += parts.at(-1)?.fates.length ?? 0) {
      const part = await follow(records.slice(done), shortestTurns());
      expect(part.fates.length).toBeGreaterThan(0);
      expect(await part.save?.()).toBe('done');
      expect((await topology.data.cohorts.load(BUYERS))?.offset, cohortKey(BUYERS)).toBe(done + part.fates.length - 1);
      parts.push(part);
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.flatMap(eventsOf)).toEqual(eventsOf(whole));
    expect(await topology.data.cohorts.count(BUYERS)).toBe(users.length);
  });
});
