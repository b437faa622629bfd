import type { CohortMessage, CohortRecord } from '@carillon/domain';
import type { Clock, CohortStore, EventLog, Ids, LogRecord, NewRecord, RecordCodecs } from '@carillon/ports';
import { readTraceparent } from '../append/traceparent.ts';
import type { BatchStage, RecordFate } from '../batch-stage.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import { openMembershipBatch } from './membership-batch.ts';
import { membershipEvent } from './membership-event.ts';

export type CohortsPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly cohorts: CohortStore;
  readonly codecs: Pick<RecordCodecs, 'cohort' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

/**
 * Bytes of messages that the cohorts stage is handed at once. A user id of a few bytes asks for an event of some hundred,
 * so this bounds what a batch holds in memory, whatever the size of a cohort.
 */
export const COHORT_BATCH_BYTES = 64 * 1024;

/**
 * Cohorts (flow table, stage 2: cohort change → entered and left events): what platforms say is held against who is in,
 * and what is a change comes out as source events, which rules judge like any other.
 */
export function createCohortsStage(ports: CohortsPorts): BatchStage {
  const { codecs, cohorts, log } = ports;
  return {
    name: 'cohorts',
    async handle(records, state) {
      const recordOf = ({ partition, offset, time }: LogRecord, message: CohortMessage): CohortRecord => ({
        message,
        at: time,
        logId: log.logId,
        partition,
        offset,
      });

      const outputs: NewRecord[] = [];
      const read = records.map((record) => ({ record, message: codecs.cohort.decode(record.value) }));
      const readable = new Map(
        read.flatMap(({ record, message }) => (message.ok ? [[record, recordOf(record, message.value)] as const] : [])),
      );
      const batch = await openMembershipBatch([...readable.values()], cohorts);

      async function apply(record: LogRecord, placed: CohortRecord): Promise<RecordFate> {
        const { message } = placed;
        const applied = await batch.apply(placed);
        if (!applied) return { kind: 'dropped', reason: 'done_before' };
        const traceparent = readTraceparent(record.headers['traceparent'] ?? null);
        for (const change of applied.changes) {
          outputs.push(membershipEvent(message, applied.cohort.name, change, traceparent, ports));
        }
        if (applied.settle !== null) outputs.push(nextChunk(record, message, applied.settle));
        return { kind: 'done' };
      }

      const nextChunk = (record: LogRecord, message: CohortMessage, chunk: number): NewRecord => ({
        topic: 'carillon.cohorts',
        partition: record.partition,
        key: record.key,
        value: codecs.cohort.encode({
          ...message,
          action: 'settle',
          page: { number: chunk, of: null },
          userIds: [],
          time: null,
          skipped: 0,
        }),
        headers: record.headers,
      });

      const fates: RecordFate[] = [];
      for (const { record, message } of read) {
        const placed = readable.get(record);
        if (placed) fates.push(await apply(record, placed));
        else if (!message.ok) {
          const { reason, detail } = message.error;
          outputs.push(deadLetterRecord(deadLetterOf('cohorts', record, reason, detail, ports), ports));
          fates.push({ kind: 'parked', reason });
        }
      }
      return { fates, outputs, save: () => batch.save(), state };
    },
  };
}
