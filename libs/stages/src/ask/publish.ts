import { partitionOf } from '@carillon/domain/events';
import { afterPublishing, type Lookup } from '@carillon/domain/lookups';
import type { Clock, DueTasks, EventLog, Ids, LogRecord, NewRecord, RecordCodecs } from '@carillon/ports';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { triggerRecord } from '../outputs.ts';
import { moveTask, type AskTask } from './tasks.ts';

export type VerdictPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'append'>;
  readonly tasks: Pick<DueTasks, 'replace'>;
  readonly codecs: Pick<RecordCodecs, 'trigger' | 'lookup' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

/**
 * Puts a verdict on the log, then ends the task. A crash in between does it again: the same answer once more, which
 * `resolve` supersedes, and never another call.
 */
export async function publishVerdict(decided: AskTask, ports: VerdictPorts): Promise<void> {
  const { trigger, verdict } = decided.asking;
  if (!trigger || !verdict) return;
  let deadLetterId: string | null = null;
  if (verdict.kind === 'answered') await ports.log.append([lookupRecord(verdict.lookup, ports)]);
  else {
    const { partition, offset, key } = decided.asking.origin;
    // The record is restored as it was on the log, so that a redrive gets the original.
    const record: LogRecord = { ...triggerRecord(trigger, ports), partition, offset, key, time: 0 };
    const letter = deadLetterOf('ask', record, verdict.reason, verdict.detail, ports);
    deadLetterId = letter.id;
    await ports.log.append([deadLetterRecord(letter, ports)]);
  }
  const asking = afterPublishing(decided.asking, deadLetterId);
  // Stale means that another process has appended the outcome too, and ended the task.
  await moveTask(decided, { asking, nextAt: ports.clock.now(), leaseUntil: null, done: true }, ports.tasks);
}

function lookupRecord(lookup: Lookup, { ids, log, codecs }: VerdictPorts): NewRecord {
  const { id, workspace, traceparent } = lookup.trigger;
  const key = ids.keyed('trigger', id);
  return {
    topic: 'carillon.lookups',
    partition: partitionOf(key, log.partitions('carillon.lookups')),
    key,
    value: codecs.lookup.encode(lookup),
    headers: { workspace, ...(traceparent !== null && { traceparent }) },
  };
}
