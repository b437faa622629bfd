import { newAsking, usefulFor, type Trigger } from '@carillon/domain/lookups';
import type { Clock, DueTasks, EventLog, Ids, LogRecord, NewRecord, RecordCodecs } from '@carillon/ports';
import type { BatchStage, RecordFate } from '@carillon/ports';
import { decodeRecords } from '../decode-record.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { moveTask, newTask, readTask, type AskTask } from './tasks.ts';

export type AskPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly tasks: DueTasks;
  readonly codecs: Pick<RecordCodecs, 'trigger' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Called with the tasks that are due now, after they are stored. Only a hint; correctness does not depend on it. */
  readonly due: (tasks: readonly AskTask[]) => void;
};

/** Header of a trigger that an operator sends again: names the redrive, so that each opens the trigger once. */
export const REDRIVE_HEADER = 'redrive';

/**
 * Creates the first stage of partner calls (flow table, stage 3a), which takes triggers into custody. A trigger already
 * in custody stays unchanged, even after its call, so that a record read twice causes no second call. Only a redrive
 * reopens a parked trigger.
 */
export function createAskStage(ports: AskPorts): BatchStage {
  const { tasks, codecs, clock } = ports;

  function taskFor(record: LogRecord, trigger: Trigger, takenAt = record.time): AskTask {
    const { partition, offset, key, headers, time } = record;
    const redrive = headers[REDRIVE_HEADER];
    const origin = { partition, offset, key };
    const asking = { ...newAsking(trigger, origin, redrive === undefined ? [] : [redrive]), takenAt };
    // An operator's redrive gives it as much time as it had at first (docs/internals/delivery-states.md).
    const notAfter = redrive === undefined ? trigger.notAfter : time + usefulFor(trigger, takenAt);
    return { task: newTask({ ...trigger, notAfter }, asking, clock.now()), asking };
  }

  /** Opens a parked trigger again. Any other trigger stays unchanged. */
  async function reopen(record: LogRecord, trigger: Trigger): Promise<RecordFate> {
    const known: RecordFate = { kind: 'dropped', reason: 'known' };
    const redrive = record.headers[REDRIVE_HEADER];
    if (redrive === undefined) return known;
    const found = await tasks.get(trigger.id);
    if (!found) throw new Error(`task ${trigger.id} could neither be created nor found`);
    const seen = readTask(found);
    const fresh = taskFor(record, trigger, seen.asking.takenAt ?? trigger.causedAt);
    if (seen.asking.ended?.kind !== 'parked' || seen.asking.redrives.includes(redrive)) return known;
    const { evidence, redrives, ended, letters = [] } = seen.asking;
    const left = ended.deadLetterId === null ? letters : [...letters, ended.deadLetterId];
    const asking = { ...fresh.asking, evidence, redrives: [...redrives, redrive], letters: left };
    const { nextAt, deadline } = fresh.task;
    const opened = await moveTask(seen, { asking, nextAt, deadline, leaseUntil: null, done: false }, tasks);
    if (!opened) return reopen(record, trigger);
    ports.due([opened]);
    return { kind: 'done' };
  }

  return {
    name: 'ask',
    async handle(records, state) {
      const outputs: NewRecord[] = [];
      const fates: RecordFate[] = [];
      const read = await decodeRecords(codecs.trigger, records);
      const fresh = read.map(({ record, decoded }) => (decoded.ok ? taskFor(record, decoded.value) : null));
      const offered = fresh.filter((one) => one !== null);
      const inserted = await tasks.insert(offered.map(({ task }) => task));
      const isNew = new Set(offered.filter((_, index) => inserted[index] === true));
      ports.due([...isNew]);
      for (const [index, { record, decoded }] of read.entries()) {
        const own = fresh[index];
        if (!decoded.ok) {
          const { reason, detail } = decoded.error;
          outputs.push(deadLetterRecord(deadLetterOf('ask', record, reason, detail, ports), ports));
          fates.push({ kind: 'parked', reason });
        } else fates.push(own && isNew.has(own) ? { kind: 'done' } : await reopen(record, decoded.value));
      }
      return { fates, outputs, state };
    },
  };
}
