import { cohortKey, type CohortMessage } from '@carillon/domain/cohorts';
import type { LogId } from '@carillon/kernel';
import type { CheckpointStore, CohortStore, EventLog } from '@carillon/ports';
import { createRecordSink, startStageConsumer } from '@carillon/runtime';
import { cohortRecord, createCohortsStage } from '@carillon/stages';
import { BUYERS, cohortMessage, neverYield } from '@carillon/testing/given';
import { createMemoryCheckpoints, createMemoryCohorts, createMemoryLog, type Wire } from '@carillon/testing/memory';
import type { Process } from '../scheduler.ts';
import type { Shared } from '../world.ts';
import { createTable, type Mishap } from './table.ts';

/** What a consumer works with; a bug changes it for each process. */
export type Tools = { readonly log: EventLog; readonly checkpoints: CheckpointStore; readonly cohorts: CohortStore };
export type Bug = { readonly plant?: (tools: Tools) => Tools; readonly fenced?: boolean };

const MESSAGES: readonly (readonly [message: CohortMessage, user: string, kind: string])[] = [
  [cohortMessage({ id: 'evt_1' as CohortMessage['id'], userIds: ['ada'] }), 'ada', 'entered'],
  [cohortMessage({ id: 'evt_2' as CohortMessage['id'], action: 'remove', userIds: ['ada'] }), 'ada', 'left'],
  [cohortMessage({ id: 'evt_3' as CohortMessage['id'], userIds: ['bob'] }), 'bob', 'entered'],
];
const LOG_ID = 'log_00000000000000000000000001' as LogId;

export type Run = { readonly requests: number; readonly broken: string | null };

/**
 * The interpreter over the cohorts stage, the one that keeps a state of its own: three messages in two batches, and what
 * is laid out for them. Asked after each step: outputs before state, state before position, and none of them goes back.
 */
export async function runConsumer(mishaps: readonly Mishap[], shared: Shared, bug: Bug = {}): Promise<Run> {
  const { codecs, ids } = shared;
  const wires = new Map<Process, Wire>();
  const table = createTable(mishaps, {
    died(process) {
      const wire = wires.get(process);
      process.alive = false;
      table.scheduler.forget(process);
      if (wire) log.groups.gone(wire);
      start();
    },
    held(process) {
      const wire = wires.get(process);
      if (wire) log.groups.expel(wire);
      start();
    },
  });
  const { scheduler } = table;
  const clock = { now: scheduler.now };
  const log = createMemoryLog({ logId: LOG_ID, partitions: 1, now: clock.now });
  const checkpoints = createMemoryCheckpoints(bug.fenced);
  const cohorts = createMemoryCohorts(bug.fenced);
  const expected = MESSAGES.map(([message, user, kind]) =>
    ids.derive('event', 'cohort', cohortKey(message), user, kind, message.id),
  );
  let broken: string | null = null;
  let furthest = 0;
  let newest = -1;

  function start(): void {
    const process = { name: `engine.${wires.size}`, alive: true, frozenUntil: 0 };
    const wire = table.wire(process);
    wires.set(process, wire);
    const own = { log: log.connect(wire), checkpoints: checkpoints.connect(wire), cohorts: cohorts.connect(wire) };
    const tools = bug.plant?.(own) ?? own;
    const stage = createCohortsStage({ ...tools, codecs, ids, clock, slice: neverYield });
    const watch = {
      consumes: () => undefined,
      stopped: () => () => undefined,
      begun: () => () => undefined,
      failed: () => undefined,
      left: () => undefined,
      skipped: () => undefined,
    };
    const begin = (): void =>
      void startStageConsumer({
        group: 'engine',
        topic: 'carillon.cohorts',
        stage,
        sink: createRecordSink(tools.log),
        ...tools,
        watch,
        maxRecords: 2,
      });
    scheduler.add(0, process, 'starts', begin);
  }

  function look(): void {
    const next = checkpoints.get('engine', 'carillon.cohorts', 0)?.next ?? 0;
    const applied = cohorts.get(BUYERS)?.offset ?? -1;
    const told = new Set(log.all('carillon.events').map(({ headers }) => headers['event_id']));
    const outputs = expected.findIndex((id) => !told.has(id));
    if (next > applied + 1) broken ??= `position ${next} is saved before the state, which is at ${applied}`;
    if (outputs >= 0 && applied >= outputs) broken ??= `state ${applied} is saved before its output`;
    if (next < furthest) broken ??= `the position went back from ${furthest} to ${next}`;
    if (applied < newest) broken ??= `the state went back from ${newest} to ${applied}`;
    furthest = Math.max(furthest, next);
    newest = Math.max(newest, applied);
  }

  const first = log.connect(table.wire({ name: 'gateway', alive: true, frozenUntil: 0 }));
  const records = MESSAGES.map(([message]) => cohortRecord(message, null, { ids, log, codecs }));
  let before = 0;
  await table.run(
    () => void first.append(records),
    () => undefined,
  );
  before = table.asked();
  await table.run(start, look);
  const told = new Set(log.all('carillon.events').map(({ headers }) => headers['event_id']));
  const inside = cohorts.members(BUYERS).filter((member) => member.inside);
  if (furthest !== MESSAGES.length) broken ??= `it stopped at ${furthest}`;
  if (told.size !== expected.length || expected.some((id) => !told.has(id))) broken ??= 'events are lost, or too many';
  if (inside.map(({ user }) => user).join() !== 'bob') broken ??= `inside are ${inside.map(({ user }) => user).join()}`;
  return { requests: table.asked() - before, broken };
}
