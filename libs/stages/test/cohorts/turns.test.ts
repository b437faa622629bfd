import { cohortKey, type CohortMessage } from '@carillon/domain/cohorts';
import type { EventId } from '@carillon/kernel';
import type { BatchResult, LogRecord, PartitionState, EventLoopSlice } from '@carillon/ports';
import { BUYERS, cohortMessage, neverYield, alwaysYield } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCohortsStage, MEMBER_BATCH_SIZE } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const START: PartitionState = { partition: 0, configNumber: -1, watermark: 0 };
const messages = (): Promise<LogRecord[]> => topology.records('carillon.cohorts');
const follow = (records: readonly LogRecord[], slice: EventLoopSlice): Promise<BatchResult> =>
  createCohortsStage({ ...topology.ports, slice }).handle(records, START);
const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `user-${at}`);
const numbered = (number: number): Pick<CohortMessage, 'id'> => ({
  id: `evt_${String(number).padStart(26, '0')}` as EventId,
});
const eventsOf = ({ outputs }: BatchResult): unknown[] =>
  outputs.map(({ topic, key, value, headers }) => [topic, key, headers, [...value]]);

describe('a cohort message with many members', () => {
  it('yields to the event loop between users who enter, and between reads and writes of members', async () => {
    const chunks = 3;
    const users = many(chunks * MEMBER_BATCH_SIZE);
    await topology.saysOfCohort(cohortMessage({ userIds: users }));
    const slice = alwaysYield();
    const first = await follow(await messages(), slice);
    expect(first.outputs).toHaveLength(users.length);
    expect(slice.ended).toBeGreaterThanOrEqual(users.length + chunks);
    const read = slice.ended;
    expect(await first.save?.()).toBe('done');
    expect(slice.ended - read).toBeGreaterThanOrEqual(chunks);
    // In another order nobody enters again: what is left is to read who is in, and to note in the cohort that they were named.
    const [again, idle] = await sayAgain(2, users.toReversed());
    expect(again.outputs).toEqual([]);
    expect(idle.ended).toBeGreaterThanOrEqual(chunks);
  });

  it('reads and writes no members if it repeats the last list exactly', async () => {
    const users = many(MEMBER_BATCH_SIZE);
    await topology.saysOfCohort(cohortMessage({ userIds: users }));
    await (await follow(await messages(), neverYield)).save?.();
    const reads = vi.spyOn(topology.data.cohorts, 'members');
    const [again] = await sayAgain(2, users);
    expect(again.outputs).toEqual([]);
    expect(reads).not.toHaveBeenCalled();
    await sayAgain(3, users.slice(1));
    expect(reads).toHaveBeenCalled();
    reads.mockClear();
    await sayAgain(4, users);
    expect(reads, 'another list came in between').toHaveBeenCalled();
  });

  /** Says the list as one more message, and saves what it came to. */
  async function sayAgain(number: number, userIds: readonly string[]) {
    await topology.saysOfCohort({ ...cohortMessage({ userIds }), ...numbered(number) });
    const slice = alwaysYield();
    const result = await follow((await messages()).slice(number - 1), slice);
    const ended = slice.ended;
    expect(await result.save?.()).toBe('done');
    expect((await topology.data.cohorts.load(BUYERS))?.offset).toBe(number - 1);
    return [result, { ended }] as const;
  }

  it('gives the same result wherever it yields', async () => {
    await topology.saysOfCohort(cohortMessage({ userIds: many(50) }));
    const records = await messages();
    expect(eventsOf(await follow(records, alwaysYield()))).toEqual(eventsOf(await follow(records, neverYield)));
  });
});

describe('a batch of many cohort messages', () => {
  it('ends early after some yields, and the remaining messages are read again', async () => {
    const users = many(60);
    await topology.saysOfCohort(
      ...users.map((user, at) => ({ ...cohortMessage({ userIds: [user] }), ...numbered(at) })),
    );
    const records = await messages();
    const whole = await follow(records, neverYield);
    expect(whole.fates).toHaveLength(users.length);
    const parts: BatchResult[] = [];
    for (let done = 0; done < records.length; done += parts.at(-1)?.fates.length ?? 0) {
      const part = await follow(records.slice(done), alwaysYield());
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
