import type {
  DeadLetterRow,
  DuplicateRow,
  EventRow,
  EvaluationRow,
  FieldRow,
  Clock,
  EventLog,
  Ids,
  ReadModels,
  RecordCodecs,
  EventLoopSlice,
} from '@carillon/ports';
import { traceIdOf } from '@carillon/kernel';
import { ownerOfAccount } from '@carillon/domain/deliveries';
import type { DeadLetter, SourceEvent } from '@carillon/domain/events';
import { parkedReceipt, type ParkedReceipt } from '@carillon/domain/receipts';
import type { LogRecord, TopicName } from '@carillon/ports';
import { readSourceRecord } from '../append/source-record.ts';
import type { BatchResult, BatchStage, RecordFate } from '@carillon/ports';
import { type Decoded, decodeRecord, decodeRecords } from '../decode-record.ts';
import { tallyFields, type SeenEvent } from './fields.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';

export type ProjectPorts = {
  readonly log: EventLog;
  readonly readModels: ReadModels;
  readonly codecs: RecordCodecs;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly slice: EventLoopSlice;
};

const DONE: RecordFate = { kind: 'done' };
const UNREADABLE: RecordFate = { kind: 'parked', reason: 'unreadable' };

/**
 * Positions of one event id that are compared. Each needs a read of the log, and a client can reuse an id any number of
 * times.
 */
const COMPARED = 16;

/** Maximum ids per lookup, so that other reads do not wait long. */
const ID_BATCH_SIZE = 100;

/** Events by id, with the configuration number that judged them, and their fields. What the engine parks is no event here. */
function createEventsProjection({ log, readModels, slice }: ProjectPorts): BatchStage {
  async function rowsWithIds(ids: readonly string[]): Promise<readonly EventRow[]> {
    const rows: EventRow[] = [];
    for (let at = 0; at < ids.length; at += ID_BATCH_SIZE) {
      if (slice.isExpired()) await slice.yield();
      rows.push(...(await readModels.eventsWithIds(ids.slice(at, at + ID_BATCH_SIZE), COMPARED)));
    }
    return rows;
  }

  function rowOf(record: LogRecord, event: SourceEvent, configNumber: number, reused: boolean): EventRow {
    const { partition, offset } = record;
    return {
      id: event.id,
      workspace: event.workspace,
      stream: event.stream,
      partition,
      offset,
      at: record.time,
      bytes: record.value.length,
      configNumber,
      reused,
      traceId: traceIdOf(event.traceparent),
    };
  }

  /** Earlier records of the same batch are not in the read model yet. */
  const otherBodyBefore = (record: LogRecord, inBatch: readonly LogRecord[]): boolean =>
    inBatch.some((other) => other.offset < record.offset && !sameBytes(other.value, record.value));

  async function otherBodyAt(projected: readonly EventRow[], record: LogRecord): Promise<boolean> {
    for (const row of projected) {
      if (row.partition === record.partition && row.offset >= record.offset) continue;
      const [other] = await log.read('carillon.events', row.partition, row.offset, 1);
      if (other && other.offset === row.offset && !sameBytes(other.value, record.value)) return true;
    }
    return false;
  }

  return {
    name: 'project-events',
    async handle(records, state) {
      let { configNumber } = state;
      const events: EventRow[] = [];
      const seen: SeenEvent[] = [];
      const byId = Map.groupBy(records, ({ headers }) => headers['event_id'] ?? '');
      // Asked together: each question is a way to the database.
      const projected = Map.groupBy(await rowsWithIds([...byId.keys()]), ({ id }) => id);
      for (const record of records) {
        if (slice.isExpired()) await slice.yield();
        const read = readSourceRecord(record, log.logId);
        if (!read.ok) continue;
        if (read.value.kind === 'marker') configNumber = Math.max(configNumber, read.value.configNumber);
        if (read.value.kind !== 'event') continue;
        const { event } = read.value;
        const before = projected.get(event.id);
        const reused =
          otherBodyBefore(record, byId.get(event.id) ?? []) ||
          (before !== undefined && (await otherBodyAt(before, record)));
        const row = rowOf(record, event, configNumber, reused);
        events.push(row);
        seen.push({ ...row, body: event.body, table: event.change?.source.table ?? null });
      }
      const fields: FieldRow[] = [];
      for (const [stream, ofStream] of Map.groupBy(seen, (one) => one.stream)) {
        if (slice.isExpired()) await slice.yield();
        fields.push(...tallyFields(await readModels.fields(stream, state.partition), ofStream));
      }
      await readModels.put({ events, fields });
      return { fates: records.map(() => DONE), outputs: [], state: { ...state, configNumber } };
    },
  };
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

/** Duplicates, as rows of their own; every other outcome stands in its delivery. */
function createOutcomesProjection(ports: ProjectPorts): BatchStage {
  return {
    name: 'project-outcomes',
    async handle(records, state) {
      const duplicates: DuplicateRow[] = [];
      const read = await decodeRecords(ports.codecs.outcome, records);
      for (const { decoded } of read) {
        if (!decoded.ok || decoded.value.reason !== 'duplicate') continue;
        const { id, workspace, notification, intentId, eventId, deliveryId, at, detail } = decoded.value;
        duplicates.push({ id, workspace, notification, intentId, eventId, deliveryId, at, detail });
      }
      await ports.readModels.put({ duplicates });
      return { ...parkUnread(read, ports), state };
    },
  };
}

function parkUnread(read: readonly Decoded<unknown>[], ports: ProjectPorts): Pick<BatchResult, 'fates' | 'outputs'> {
  const outputs = read.flatMap(({ record, decoded }) => {
    if (decoded.ok) return [];
    const { reason, detail } = decoded.error;
    return [deadLetterRecord(deadLetterOf('project', record, reason, detail, ports), ports)];
  });
  return { fates: read.map(({ decoded }) => (decoded.ok ? DONE : UNREADABLE)), outputs };
}

function createEvaluationsProjection(ports: ProjectPorts): BatchStage {
  return {
    name: 'project-evaluations',
    async handle(records, state) {
      const evaluations: EvaluationRow[] = [];
      const read = await decodeRecords(ports.codecs.evaluation, records);
      for (const { decoded } of read) {
        if (!decoded.ok) continue;
        const { partition, from, to, configNumber, rules } = decoded.value;
        for (const { workspace, rule, fired, failed, sampleEventId, sampleError } of rules) {
          evaluations.push({
            partition,
            from,
            to,
            configNumber,
            workspace,
            rule,
            fired,
            failed,
            sampleEventId,
            sampleError,
          });
        }
      }
      await ports.readModels.put({ evaluations });
      return { ...parkUnread(read, ports), state };
    },
  };
}

/** Dead letters by id. One that cannot be read itself is left where it is: parking it again would never end. */
function createDeadLettersProjection({ readModels, codecs }: ProjectPorts): BatchStage {
  /** Returns the content of an unmatched receipt. */
  async function receiptIn({ topic, value }: DeadLetter): Promise<ParkedReceipt | null> {
    if (topic !== 'carillon.receipts') return null;
    const decoded = await decodeRecord(codecs.receipt, value);
    return decoded.ok ? parkedReceipt(decoded.value) : null;
  }

  async function rowOf(letter: DeadLetter, own: LogRecord): Promise<DeadLetterRow> {
    const { id, workspace, stage, topic, partition, offset, reason, detail, at } = letter;
    const receipt = await receiptIn(letter);
    return {
      id,
      // A receipt has no workspace. The owner of the account that verified it may see it.
      workspace: workspace ?? (receipt?.account ? ownerOfAccount(receipt.account) : null),
      stage,
      topic,
      partition,
      offset,
      reason: `${reason}: ${detail}`,
      at,
      ownPartition: own.partition,
      ownOffset: own.offset,
      redrivenAt: null,
      redrivenBy: null,
      dismissedAt: null,
      dismissedBy: null,
      receipt,
    };
  }

  return {
    name: 'project-dead-letters',
    async handle(records, state) {
      const read = await decodeRecords(codecs.deadLetter, records);
      const deadLetters = await Promise.all(
        read.flatMap(({ record, decoded }) => (decoded.ok ? [rowOf(decoded.value, record)] : [])),
      );
      await readModels.put({ deadLetters });
      return { fates: records.map(() => DONE), outputs: [], state };
    },
  };
}

/** Project (flow table, stage 5): what people look up, by record id, so that projecting twice changes nothing. */
export function projections(ports: ProjectPorts): readonly { readonly topic: TopicName; readonly stage: BatchStage }[] {
  return [
    { topic: 'carillon.events', stage: createEventsProjection(ports) },
    { topic: 'carillon.outcomes', stage: createOutcomesProjection(ports) },
    { topic: 'carillon.evaluations', stage: createEvaluationsProjection(ports) },
    { topic: 'carillon.dead-letters', stage: createDeadLettersProjection(ports) },
  ];
}
