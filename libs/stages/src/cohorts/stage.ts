import { namesList, type CohortMessage, type CohortRecord } from '@carillon/domain/cohorts';
import { readTraceparent } from '@carillon/kernel';
import type {
  Clock,
  CohortStore,
  EventLog,
  Ids,
  LogRecord,
  NewRecord,
  RecordCodecs,
  EventLoopSlice,
} from '@carillon/ports';
import type { BatchStage, RecordFate } from '@carillon/ports';
import { decodeRecords } from '../decode-record.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import type { CalledOff } from '../deliver/custody-stage.ts';
import { openMembershipBatch } from './membership-batch.ts';
import { membershipEvent } from './membership-event.ts';

export type CohortsPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly cohorts: CohortStore;
  readonly codecs: Pick<RecordCodecs, 'cohort' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly slice: EventLoopSlice;
  /**
   * Offsets per partition of `carillon.cohorts`, set by a restore. Messages below them and their consequences change
   * members but cause no events. Defaults to none.
   */
  readonly calledOffCohortsBelow?: CalledOff;
};

/** On the record that goes on with a message which a restore called off. */
const CALLED_OFF = 'called_off';

/**
 * Bytes of messages that the cohorts stage is handed at once. A user id of a few bytes asks for an event of some hundred,
 * so this bounds what a batch holds in memory, whatever the size of a cohort.
 */
export const COHORT_BATCH_BYTES = 64 * 1024;

/** Turns of the event loop after which a batch ends with what it has; one message is always done whole. */
const MAX_TURNS = 100;

/**
 * Cohorts (flow table, stage 2: cohort change → entered and left events): what platforms say is held against who is in,
 * and what is a change comes out as source events, which rules judge like any other.
 */
export function createCohortsStage(ports: CohortsPorts): BatchStage {
  const { codecs, cohorts, ids, log, calledOffCohortsBelow } = ports;
  const isCalledOff = ({ partition, offset, headers }: LogRecord): boolean =>
    CALLED_OFF in headers || offset < (calledOffCohortsBelow?.get(partition) ?? 0);
  return {
    name: 'cohorts',
    async handle(records, state) {
      const recordOf = ({ partition, offset, time }: LogRecord, message: CohortMessage): CohortRecord => ({
        message,
        at: time,
        logId: log.logId,
        partition,
        offset,
        ...(namesList(message) && { digest: ids.keyed('cohort list', JSON.stringify(message.userIds)) }),
      });

      let ended = 0;
      async function giveWay(): Promise<void> {
        if (!ports.slice.isExpired()) return;
        ended += 1;
        await ports.slice.yield();
      }

      const outputs: NewRecord[] = [];
      const decoded = await decodeRecords(codecs.cohort, records);
      const read = decoded.map(({ record, decoded: message }) => ({ record, message }));
      const readable = new Map<LogRecord, CohortRecord>();
      for (const { record, message } of read) {
        await giveWay();
        if (message.ok) readable.set(record, recordOf(record, message.value));
      }
      await giveWay();
      const batch = await openMembershipBatch([...readable.values()], cohorts, giveWay);

      async function apply(record: LogRecord, placed: CohortRecord): Promise<RecordFate> {
        const { message } = placed;
        const applied = await batch.apply(placed);
        if (!applied) return { kind: 'dropped', reason: 'done_before' };
        const traceparent = readTraceparent(record.headers['traceparent'] ?? null);
        const calledOff = isCalledOff(record);
        for (const change of calledOff ? [] : applied.changes) {
          outputs.push(membershipEvent(message, applied.cohort.name, change, traceparent, ports));
          if (ports.slice.isExpired()) await giveWay();
        }
        if (applied.settle !== null) outputs.push(nextChunk(record, message, applied.settle, calledOff));
        return { kind: 'done' };
      }

      const nextChunk = (record: LogRecord, message: CohortMessage, chunk: number, calledOff: boolean): NewRecord => ({
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
        headers: { ...record.headers, ...(calledOff && { [CALLED_OFF]: 'restore' }) },
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
        if (ended >= MAX_TURNS) break;
        await giveWay();
      }
      return { fates, outputs, save: () => batch.save(), state };
    },
  };
}
