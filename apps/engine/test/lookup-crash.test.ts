import type { DueTask, DueTasks, EventLog, NewRecord } from '@carillon/ports';
import { traceEvent } from '@carillon/insight';
import { createAskStage, createResolveStage, readAsking, projections } from '@carillon/stages';
import { untilFound } from '@carillon/testing/topology';
import { describe, expect, it } from 'vitest';
import type { EnginePorts } from '../src/index.ts';
import type { WatchedEngine } from './engine-role.ts';
import { lookupFixture } from './lookup-fixture.ts';

const fixture = lookupFixture();
const LEASE = 120_000;

type Stalled<Work> = {
  readonly reached: () => true | undefined;
  readonly release: () => void;
  readonly run: Work;
};

/** A worker that stops in the middle of something, for as long as the test wants. */
function stall<Args extends readonly unknown[], Answer>(
  work: (...args: Args) => Promise<Answer>,
  when: (...args: Args) => boolean,
  side: 'before' | 'after',
) {
  const released = Promise.withResolvers<void>();
  let reached = false;
  return {
    reached: () => reached || undefined,
    release: released.resolve,
    run: async (...args: Args): Promise<Answer> => {
      if (!when(...args)) return work(...args);
      if (side === 'after') {
        const answer = await work(...args);
        reached = true;
        await released.promise;
        return answer;
      }
      reached = true;
      await released.promise;
      return work(...args);
    },
  };
}

const decides = (_version: number, next: DueTask): boolean => readAsking(next).verdict !== null;
const leases = (_version: number, next: DueTask): boolean => next.leaseUntil !== null && !decides(_version, next);
const ends = (_version: number, next: DueTask): boolean => next.done;
const isLookup = (records: readonly NewRecord[]): boolean => records.some(({ topic }) => topic === 'carillon.lookups');

const withReplace = (replace: DueTasks['replace']): Partial<EnginePorts> => ({
  tasks: { ...fixture.topology().data.tasks, replace },
});
const withAppend = (append: EventLog['append']): Partial<EnginePorts> => {
  const { log } = fixture.topology().data;
  return { log: { ...log, append } };
};

/** The one set of recipients: two messages, whatever happened on the way. */
async function oneSet(): Promise<void> {
  await fixture.intents(2);
  await untilFound('everything on the log is resolved', async () => {
    const { data } = fixture.topology();
    for (let partition = 0; partition < 2; partition += 1) {
      const { end } = await data.log.bounds('carillon.lookups', partition);
      const checkpoint = await data.checkpoints.load('engine', 'carillon.lookups', partition);
      if ((checkpoint?.next ?? 0) < end) return undefined;
    }
    return true;
  });
  const made = await fixture.allIntents();
  expect(new Set(made.map(({ id }) => id)).size).toBe(2);
  expect(made.map(({ person }) => person).toSorted()).toEqual(['ada', 'bob']);
}

async function firstWorkerStalls(
  more: Partial<EnginePorts>,
  reached: () => true | undefined,
): Promise<{ readonly id: string; readonly first: WatchedEngine }> {
  await fixture.configure();
  const first = await fixture.start(more);
  const id = await fixture.topology().event({ watchers: ['ada', 'bob'] });
  await untilFound('the first worker stands still', reached);
  return { id, first };
}

/** While the first worker stands still another one does all of its work; then it goes on, and ends. */
async function isOvertaken(still: Stalled<DueTasks['replace']>): Promise<void> {
  const { first } = await firstWorkerStalls(withReplace(still.run), still.reached);
  fixture.topology().clock.pass(LEASE);
  await fixture.start();
  await oneSet();
  still.release();
  // Until it has done whatever it had in mind.
  await fixture.stop(first);
}

describe('a worker that dies', () => {
  it('between call and record costs one more call; its late write is refused, and nobody is notified twice', async () => {
    await isOvertaken(stall(replaceTask, decides, 'before'));
    expect(fixture.partner().calls).toHaveLength(2);
    expect(await fixture.allLookups()).toHaveLength(1);
  });

  it('before its call, and wakes after another worker has asked, makes no call', async () => {
    await isOvertaken(stall(replaceTask, leases, 'after'));
    expect(fixture.partner().calls).toHaveLength(1);
  });

  it('between answer and log costs no call: the second worker appends the same answer', async () => {
    const { log } = { log: () => fixture.topology().data.log };
    const dead = stall((records: readonly NewRecord[]) => log().append(records), isLookup, 'before');
    const { id, first } = await firstWorkerStalls(withAppend(dead.run), dead.reached);
    fixture.topology().clock.pass(LEASE);
    await fixture.start();
    await fixture.intents(2);
    dead.release();
    await fixture.stop(first);
    expect(await fixture.allLookups()).toHaveLength(2);
    await oneSet();
    expect(fixture.partner().calls).toHaveLength(1);

    for (const { topic, stage } of projections(fixture.topology().ports)) {
      const records = await fixture.topology().records(topic);
      if (records.length > 0) await stage.handle(records, { partition: 0, configNumber: 0, watermark: 0 });
    }
    const trace = await traceEvent(id, fixture.topology().tracePorts);
    expect(trace?.steps.filter(({ state }) => state === 'superseded')).toHaveLength(1);
  });

  it('between the log and the end of its task costs no call', async () => {
    const dead = stall(replaceTask, ends, 'before');
    const { first } = await firstWorkerStalls(withReplace(dead.run), dead.reached);
    fixture.topology().clock.pass(LEASE);
    await fixture.start();
    await fixture.lookups(2);
    dead.release();
    await fixture.stop(first);
    await oneSet();
    expect(fixture.partner().calls).toHaveLength(1);
  });
});

it('after a restart at the first record, answered triggers are not asked again and nobody is notified again', async () => {
  await fixture.configure();
  const engine = await fixture.start();
  await fixture.topology().event({ watchers: ['ada', 'bob'] });
  await oneSet();
  await fixture.stop(engine);
  const { ports } = fixture.topology();
  const state = { partition: 0, configNumber: -1, watermark: 0 };
  const offered: unknown[] = [];
  const asked = await createAskStage({ ...ports, due: (tasks) => void offered.push(...tasks) }).handle(
    await fixture.topology().records('carillon.triggers'),
    state,
  );
  expect(asked.fates).toEqual([{ kind: 'dropped', reason: 'known' }]);
  expect(offered).toEqual([]);
  const resolved = await createResolveStage(ports).handle(await fixture.topology().records('carillon.lookups'), state);
  const again = resolved.outputs.map((output) => (output.kind === 'intent' ? output.intent.id : ''));
  expect(new Set(again)).toEqual(new Set((await fixture.allIntents()).map(({ id }) => id)));
  expect(fixture.partner().calls).toHaveLength(1);
});

function replaceTask(version: number, next: DueTask): Promise<'done' | 'stale'> {
  return fixture.topology().data.tasks.replace(version, next);
}
