import type { DeadLetterRow, DuplicateRow, EvaluationRow, EventRow, FieldRow } from '@carillon/ports';

/** Rows as the tables hold them, and as the port shows them. */
export type EventTableRow = {
  partition: number;
  record_offset: number;
  id: string;
  workspace: string;
  stream: string;
  at: number;
  bytes: number;
  config_number: number;
  reused: number;
  trace_id: string | null;
};
export const eventOf = (row: EventTableRow): EventRow => ({
  id: row.id,
  workspace: row.workspace,
  stream: row.stream,
  partition: row.partition,
  offset: row.record_offset,
  at: row.at,
  bytes: row.bytes,
  configNumber: row.config_number,
  reused: row.reused === 1,
  traceId: row.trace_id,
});

export type DuplicateTableRow = {
  id: string;
  workspace: string;
  notification: string;
  intent_id: string;
  event_id: string;
  delivery_id: string;
  at: number;
  detail: string;
};
export const duplicateOf = (row: DuplicateTableRow): DuplicateRow => ({
  id: row.id,
  workspace: row.workspace,
  notification: row.notification,
  intentId: row.intent_id,
  eventId: row.event_id,
  deliveryId: row.delivery_id,
  at: row.at,
  detail: row.detail,
});

export type DeadLetterTableRow = {
  id: string;
  workspace: string | null;
  stage: string;
  topic: string;
  partition: number;
  record_offset: number;
  reason: string;
  at: number;
  own_partition: number;
  own_offset: number;
  redriven_at: number | null;
  redriven_by: string | null;
  dismissed_at: number | null;
  dismissed_by: string | null;
  receipt: string | null;
};
export const deadLetterOf = (row: DeadLetterTableRow): DeadLetterRow => ({
  id: row.id,
  workspace: row.workspace,
  stage: row.stage,
  topic: row.topic,
  partition: row.partition,
  offset: row.record_offset,
  reason: row.reason,
  at: row.at,
  ownPartition: row.own_partition,
  ownOffset: row.own_offset,
  redrivenAt: row.redriven_at,
  redrivenBy: row.redriven_by,
  dismissedAt: row.dismissed_at,
  dismissedBy: row.dismissed_by,
  receipt: row.receipt === null ? null : (JSON.parse(row.receipt) as DeadLetterRow['receipt']),
});

export type EvaluationTableRow = {
  partition: number;
  from_offset: number;
  to_offset: number;
  config_number: number;
  workspace: string;
  rule: string;
  fired: number;
  failed: number;
  sample_event_id: string | null;
  sample_error: string | null;
};
export const evaluationOf = (row: EvaluationTableRow): EvaluationRow => ({
  partition: row.partition,
  from: row.from_offset,
  to: row.to_offset,
  configNumber: row.config_number,
  workspace: row.workspace,
  rule: row.rule,
  fired: row.fired,
  failed: row.failed,
  sampleEventId: row.sample_event_id,
  sampleError: row.sample_error,
});

export type FieldTableRow = {
  stream: string;
  partition: number;
  path: string;
  workspace: string;
  record_offset: number;
  count: number;
  types: string;
  sample: string | null;
  first_at: number;
  last_at: number;
  tables: string;
};
export const fieldOf = (row: FieldTableRow): FieldRow => ({
  workspace: row.workspace,
  stream: row.stream,
  partition: row.partition,
  path: row.path,
  offset: row.record_offset,
  count: row.count,
  types: JSON.parse(row.types) as FieldRow['types'],
  tables: JSON.parse(row.tables) as FieldRow['tables'],
  sample: row.sample,
  firstAt: row.first_at,
  lastAt: row.last_at,
});
