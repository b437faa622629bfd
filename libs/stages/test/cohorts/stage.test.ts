import { cohortStream, type CohortMessage } from '@carillon/domain/cohorts';
import type { EventId } from '@carillon/kernel';
import type { CohortStore, LogRecord, PartitionState } from '@carillon/ports';
import { BUYERS, cohortMessage, neverYield, pageOf } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCohortsStage, MEMBER_BATCH_SIZE, readSourceRecord } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const START: PartitionState = { partition: 0, configNumber: -1, watermark: 0 };
const messages = (): Promise<LogRecord[]> => topology.records('carillon.cohorts');
const events = (): Promise<LogRecord[]> => topology.records('carillon.events');
/** Batches are done whole, however slow the machine is: turns.test.ts tells of those that end sooner. */
const run = async (records: readonly LogRecord[], cohorts: CohortStore = topology.data.cohorts) =>
  createCohortsStage({ ...topology.ports, slice: neverYield, cohorts }).handle(records, START);
const bodyOf = ({ value }: Pick<LogRecord, 'value'>) =>
  JSON.parse(new TextDecoder().decode(value)) as Record<string, unknown>;
const told = (outputs: readonly Pick<LogRecord, 'topic' | 'value'>[]): string[] =>
  outputs
    .filter(({ topic }) => topic === 'carillon.events')
    .map(bodyOf)
    .map(({ user_id: user, change }) => `${String(user)} ${String(change)}`);
const idsOf = (outputs: readonly Pick<LogRecord, 'headers'>[]) => outputs.map(({ headers }) => headers['event_id']);
const later = (number: number): Pick<CohortMessage, 'id'> => ({
  id: `evt_0000000000000000000000000${number}` as EventId,
});

describe('a message of a cohort platform about users who entered or left', () => {
  it('becomes events that rules evaluate like any others', async () => {
    await topology.saysOfCohort(pageOf('s', 1, 1, 'Ådä / “1”'));
    const { outputs, fates } = await run(await messages());
    expect(fates).toEqual([{ kind: 'done' }]);
    const [output] = outputs;
    await topology.data.log.append(output ? [output] : []);
    const [record] = await events();
    const read = record && readSourceRecord(record, topology.data.log.logId);
    expect(read).toMatchObject({
      ok: true,
      value: {
        kind: 'event',
        event: {
          workspace: 'shop',
          stream: 'shop/cohorts/mixpanel/buyers',
          key: 'Ådä / “1”',
          body: {
            change: 'entered',
            user_id: 'Ådä / “1”',
            cohort: 'buyers',
            cohort_name: 'Buyers',
            integration: 'mixpanel',
            first_sync: true,
            message_id: cohortMessage().id,
          },
        },
      },
    });
    expect(read?.ok && read.value.kind === 'event' && read.value.event.stream).toBe(cohortStream(BUYERS));
  });

  it('gives the same events again until its members are saved, and no events after that', async () => {
    await topology.saysOfCohort(
      pageOf('s', 1, 1, 'ada', 'bob'),
      cohortMessage({ ...later(2), action: 'remove', userIds: ['bob'] }),
    );
    const records = await messages();
    const first = await run(records);
    expect(told(first.outputs)).toEqual(['ada entered', 'bob entered', 'bob left']);
    const again = await run(records);
    expect(idsOf(again.outputs)).toEqual(idsOf(first.outputs));
    expect(new Set(idsOf(first.outputs.slice(0, 2))).size).toBe(2);
    expect(await again.save?.()).toBe('done');
    const third = await run(records);
    expect(third.outputs).toEqual([]);
    expect(third.fates).toEqual([
      { kind: 'dropped', reason: 'done_before' },
      { kind: 'dropped', reason: 'done_before' },
    ]);
  });

  it('gives its events again after a crash between saving members and saving the cohort', async () => {
    await topology.saysOfCohort(pageOf('s', 1, 1, 'ada'), pageOf('t', 1, 1));
    const records = await messages();
    const first = await run(records, { ...topology.data.cohorts, save: () => Promise.reject(new Error('away')) });
    await expect(first.save?.()).rejects.toThrow('away');
    const again = await run(records);
    // The member stands as the batch left it; what is told besides is what the message asks for: to let others leave.
    expect(told(again.outputs)).toEqual([]);
    expect(again.outputs.map(({ topic }) => topic)).toEqual(['carillon.cohorts', 'carillon.cohorts']);
    expect(await again.save?.()).toBe('done');
  });

  it('becomes a dead letter if it is unreadable, and the others are processed', async () => {
    await topology.saysOfCohort(cohortMessage({ userIds: ['ada'] }));
    const [record] = await messages();
    if (!record) throw new Error('there is a record');
    const { outputs, fates } = await run([
      { ...record, value: new Uint8Array([1, 2, 3]) },
      { ...record, offset: 1 },
    ]);
    expect(fates.map(({ kind }) => kind)).toEqual(['parked', 'done']);
    expect(outputs.map(({ topic }) => topic)).toEqual(['carillon.dead-letters', 'carillon.events']);
  });

  it('is not saved by a slow worker if another worker of the partition is ahead', async () => {
    await topology.saysOfCohort(
      cohortMessage({ userIds: ['ada'] }),
      cohortMessage({ action: 'remove', userIds: ['ada'] }),
    );
    const records = await messages();
    const slow = await run(records.slice(0, 1));
    await (await run(records)).save?.();
    expect(await slow.save?.()).toBe('refused');
    expect(await topology.data.cohorts.members(BUYERS, ['ada'])).toMatchObject([{ inside: false }]);
  });

  it('stops the partition if its members belong to another log', async () => {
    await topology.saysOfCohort(cohortMessage({ userIds: ['ada'] }));
    await (await run(await messages())).save?.();
    const other = { ...topology.ports, log: { ...topology.data.log, logId: 'log_other' as never } };
    await expect(createCohortsStage(other).handle(await messages(), START)).rejects.toMatchObject({
      code: 'wrong_log',
    });
  });
});

describe('a cohort message from before the end of a backup that was restored', () => {
  const after = (below: number) =>
    createCohortsStage({ ...topology.ports, slice: neverYield, calledOffCohortsBelow: new Map([[0, below]]) });

  it('changes members without making events; later messages make events', async () => {
    await topology.saysOfCohort(
      pageOf('s', 1, 1, 'ada', 'bob'),
      cohortMessage({ ...later(2), action: 'remove', userIds: ['ada'] }),
      cohortMessage({ ...later(3), userIds: ['eve'] }),
    );
    const done = await after(2).handle(await messages(), START);
    expect(done.fates.map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
    expect(told(done.outputs)).toEqual(['eve entered']);
    expect(await done.save?.()).toBe('done');
    const members = await topology.data.cohorts.members(BUYERS, ['ada', 'bob', 'eve']);
    expect(new Map(members.map(({ user, inside }) => [user, inside]))).toEqual(
      new Map([
        ['ada', false],
        ['bob', true],
        ['eve', true],
      ]),
    );
  });

  it('removes members without events, also in the later records that it causes', async () => {
    await topology.saysOfCohort(pageOf('one', 1, 1, 'ada', 'bob'));
    await (await run(await messages())).save?.();
    await topology.saysOfCohort({ ...pageOf('two', 1, 1, 'bob'), ...later(2) });
    const called = await messages();
    for (let done = 1; ;) {
      const records = (await messages()).slice(done);
      if (records.length === 0) break;
      const batch = await after(called.length).handle(records, START);
      expect(told(batch.outputs)).toEqual([]);
      await topology.data.log.append(batch.outputs);
      expect(await batch.save?.()).toBe('done');
      done += records.length;
    }
    expect((await messages()).length).toBeGreaterThan(called.length);
    expect(await topology.data.cohorts.members(BUYERS, ['ada'])).toMatchObject([{ inside: false }]);
  });
});

describe('members to remove after a cohort was replaced by a new list', () => {
  it('leave in chunks, with one event each, even if a chunk is repeated', async () => {
    const many = Array.from({ length: 2 * MEMBER_BATCH_SIZE + 1 }, (_, at) => `user-${at}`);
    await topology.saysOfCohort(pageOf('one', 1, 1, ...many), { ...pageOf('two', 1, 1, 'user-7'), ...later(2) });
    let done = 0;
    const chunks: number[] = [];
    for (;;) {
      const records = (await messages()).slice(done);
      if (records.length === 0) break;
      // Each batch comes twice: as after a crash before its state was saved.
      const first = await run(records);
      await topology.data.log.append(first.outputs);
      const again = await run(records);
      await topology.data.log.append(again.outputs);
      expect(idsOf(again.outputs)).toEqual(idsOf(first.outputs));
      expect(await again.save?.()).toBe('done');
      chunks.push(told(first.outputs).filter((line) => line.endsWith('left')).length);
      done += records.length;
    }
    expect(chunks.filter((size) => size > 0)).toEqual([1000, 1000]);
    const left = (await events()).filter((record) => bodyOf(record)['change'] === 'left');
    expect(new Set(idsOf(left)).size).toBe(2000);
    expect(await topology.data.cohorts.count(BUYERS)).toBe(1);
    expect((await topology.data.cohorts.load(BUYERS))?.settling).toBeNull();
    // Two pages, the first chunk of each, and two more of the second: each twice, and none that comes again begins a chain.
    expect(await messages()).toHaveLength(2 + 2 * 4);
  });

  it('are found even if the same batch added them', async () => {
    await topology.saysOfCohort(cohortMessage({ userIds: ['ada'] }), { ...pageOf('s', 1, 1, 'bob'), ...later(2) });
    const { outputs } = await run(await messages());
    await topology.data.log.append(outputs.filter(({ topic }) => topic === 'carillon.cohorts'));
    const all = await run(await messages());
    expect(told(all.outputs)).toEqual(['ada entered', 'bob entered', 'ada left']);
  });
});

it('the cohort stage, run by the shared consumer, notifies nobody twice after a store outage', async () => {
  await topology.followsCohorts();
  await topology.saysOfCohort(pageOf('s', 1, 1, 'ada'), { ...pageOf('t', 1, 1, 'bob'), ...later(2) });
  const found = await untilFound('three events', async () => {
    const all = await events();
    return all.length === 3 ? all : undefined;
  });
  expect(told(found)).toEqual(['ada entered', 'bob entered', 'ada left']);
  await topology.restart();
  await topology.followsCohorts();
  await topology.saysOfCohort(
    { ...pageOf('t', 1, 1, 'bob'), ...later(3) },
    cohortMessage({ ...later(4), userIds: ['cleo'] }),
  );
  await untilFound('one more event', async () => ((await events()).length === 4 ? true : undefined));
  expect(topology.witness.failures).toEqual([]);
});
