import type { DeadLetterRow, DuplicateRow, EvaluationRow, EventRow, FieldRow } from '@carillon/ports';
import {
  keyOf,
  type DeadLetterDocument,
  type DuplicateDocument,
  type EvaluationDocument,
  type EventDocument,
  type FieldDocument,
} from '../documents.ts';

/** Rows are picked field by field, so that what a caller's object carries besides them is not stored. */
const eventFields = (row: EventRow): EventRow => ({
  id: row.id,
  workspace: row.workspace,
  stream: row.stream,
  partition: row.partition,
  offset: row.offset,
  at: row.at,
  bytes: row.bytes,
  configNumber: row.configNumber,
  reused: row.reused,
  // A document of before has none.
  traceId: row.traceId ?? null,
});
export const eventKey = (row: EventRow): string => keyOf(row.partition, row.offset);
export const eventOf = (found: EventDocument): EventRow => eventFields(found);
export const eventDocument = (row: EventRow): EventDocument => ({ _id: eventKey(row), ...eventFields(row) });

const duplicateFields = (row: Omit<DuplicateRow, 'id'>): Omit<DuplicateRow, 'id'> => ({
  workspace: row.workspace,
  notification: row.notification,
  intentId: row.intentId,
  eventId: row.eventId,
  deliveryId: row.deliveryId,
  at: row.at,
  detail: row.detail,
});
export const duplicateOf = (found: DuplicateDocument): DuplicateRow => ({ id: found._id, ...duplicateFields(found) });
export const duplicateDocument = (row: DuplicateRow): DuplicateDocument => ({ _id: row.id, ...duplicateFields(row) });

const deadLetterFields = (row: Omit<DeadLetterRow, 'id'>): Omit<DeadLetterRow, 'id'> => ({
  workspace: row.workspace,
  stage: row.stage,
  topic: row.topic,
  partition: row.partition,
  offset: row.offset,
  reason: row.reason,
  at: row.at,
  ownPartition: row.ownPartition,
  ownOffset: row.ownOffset,
  redrivenAt: row.redrivenAt,
  // Documents of earlier releases lack these fields.
  redrivenBy: row.redrivenBy ?? null,
  dismissedAt: row.dismissedAt ?? null,
  dismissedBy: row.dismissedBy ?? null,
  receipt: row.receipt ?? null,
});
export const deadLetterOf = (found: DeadLetterDocument): DeadLetterRow => ({
  id: found._id,
  ...deadLetterFields(found),
});
export const deadLetterDocument = (row: DeadLetterRow): DeadLetterDocument => ({
  _id: row.id,
  ...deadLetterFields(row),
});

export const evaluationKey = (row: EvaluationRow): string =>
  keyOf(row.partition, row.from, row.to, row.configNumber, row.workspace, row.rule);
export const evaluationOf = (row: EvaluationRow): EvaluationRow => ({
  partition: row.partition,
  from: row.from,
  to: row.to,
  configNumber: row.configNumber,
  workspace: row.workspace,
  rule: row.rule,
  fired: row.fired,
  failed: row.failed,
  sampleEventId: row.sampleEventId,
  sampleError: row.sampleError,
});
export const evaluationDocument = (row: EvaluationRow, writtenAt: number): EvaluationDocument => ({
  _id: evaluationKey(row),
  ...evaluationOf(row),
  hasFailures: row.failed > 0,
  writtenAt,
});

export const fieldOf = (row: Omit<FieldDocument, '_id'>): FieldRow => ({
  workspace: row.workspace,
  stream: row.stream,
  partition: row.partition,
  path: row.path,
  offset: row.offset,
  count: row.count,
  types: row.types,
  tables: row.tables ?? [],
  sample: row.sample,
  firstAt: row.firstAt,
  lastAt: row.lastAt,
});
export const fieldDocument = (row: FieldRow): FieldDocument => ({
  _id: keyOf(row.stream, row.partition, row.path),
  ...fieldOf(row),
});
