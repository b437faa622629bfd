import {
  readChange,
  writeChange,
  type Change,
  type ChangeFault,
  type ChangeSource,
  type ReadChange,
  type UnreadableChange,
} from '@carillon/domain/changes';
import { readsSource, type SourceStream, type TableOfStream } from '@carillon/domain/configuration';
import { CHANGE_LIMITS, FORBIDDEN_NAMES, partitionOf, type DeadLetter } from '@carillon/domain/events';
import type { EventId, Json, JsonObject } from '@carillon/kernel';
import type { Clock, EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';
import { deadLetterRecord } from '../dead-letters.ts';
import { entityAt, readTime } from './prepare-append.ts';

export type ChangePorts = {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'deadLetter'>;
};

/** `skipped`: it is no change, such as a tombstone. `without_key`: the row has no usable value at the key path. `dead_letter`: the change is above a limit or cannot be processed. */
export type ChangeResult = 'appended' | 'without_key' | 'dead_letter' | 'skipped';
export type PreparedChange = {
  readonly record: NewRecord;
  readonly result: Exclude<ChangeResult, 'skipped'>;
  /** Number of records that this one represents, such as those of an unreadable batch. Defaults to 1. */
  readonly count?: number;
  /** Detail of the dead letter, and the code of the limit. Present for each dead letter. */
  readonly refusal?: Refusal;
  /** Why the change cannot be processed, for the log of the engine. Absent if it can, or if it is above a limit. */
  readonly error?: unknown;
};

export type Refusal = Pick<DeadLetter, 'reason' | 'detail'> & { readonly code: string };

/** A change, or a record that is none. */
export type PreparedRecord =
  | PreparedChange
  | { readonly record: null; readonly result: 'skipped'; readonly error?: never; readonly count?: never };

/**
 * Append (flow table, stage 1) for changes: returns the record of a change for each stream that names its table. The id derives
 * from the stream and the identity of the change, so that a repeated change has the same id.
 */
export function prepareChange(
  read: ReadChange | UnreadableChange,
  streams: readonly SourceStream[],
  ports: ChangePorts,
): readonly PreparedChange[] {
  const source = 'change' in read ? read.change.source : read.source;
  return streams.flatMap(({ stream, tables }) => {
    const table = tables.find((one) => one.table === source.table);
    return table === undefined ? [] : [prepareChangeOf(read, { stream, table }, ports)];
  });
}

/** A table, or a topic with changes, as one stream reads it. */
export type ReadTable = { readonly stream: SourceStream['stream']; readonly table: TableOfStream };

/** Returns the record of a change for one stream. `trace`: headers that it takes along. */
export function prepareChangeOf(
  read: ReadChange | UnreadableChange,
  { stream, table }: ReadTable,
  ports: ChangePorts,
  trace: Readonly<Record<string, string>> = {},
): PreparedChange {
  const id = ports.ids.derive('event', stream.path, 'change', ...read.identity) as EventId;
  const placed = { id, stream, table, trace };
  if (!('change' in read)) return unreadable(read.source, placed, read.error, ports);
  try {
    return recordOf(keptColumns(read.change, table), placed, ports);
  } catch (error) {
    return unreadable(read.change.source, placed, error, ports);
  }
}

type Placed = ReadTable & { readonly id: EventId; readonly trace: Readonly<Record<string, string>> };

const headersOf = ({ integration }: ChangeSource, { id, stream, trace }: Placed): Readonly<Record<string, string>> => ({
  kind: 'event',
  enc: '0',
  shape: 'change',
  event_id: id,
  workspace: stream.workspace,
  stream: stream.path,
  principal: `source:${integration}`,
  ...trace,
});

function recordOf(change: Change, placed: Placed, ports: ChangePorts): PreparedChange {
  const { id, stream, table } = placed;
  const { ids, log, clock } = ports;
  const entity = entityAt(change.event, table.key);
  const time = stream.time === null ? null : readTime(change.event, stream.time, clock.now());
  const key = ids.keyed('events', stream.path, entity ?? id);
  const headers = {
    ...headersOf(change.source, placed),
    ...(entity !== null && { key: encodeURIComponent(entity) }),
    // A row without a time at the path has that of its commit.
    ...(time?.ok && time.value),
  };
  const value = writeChange(change);
  const fault = faultOf(change, value);
  if (fault !== null) {
    const refusal = refusalOf(fault, stream);
    const letter = refusedChange(change.source, { key, headers, ...refusal }, ports);
    return { record: deadLetterRecord(letter, ports), result: 'dead_letter', refusal };
  }
  const partition = partitionOf(key, log.partitions('carillon.events'));
  const record: NewRecord = { topic: 'carillon.events', partition, key, value, headers };
  return { record, result: entity === null ? 'without_key' : 'appended' };
}

/**
 * Removes the columns that the stream excludes (`without`). Columns whose name no JSON object may have are removed too,
 * and listed as unknown.
 */
function keptColumns(change: Change, { without }: TableOfStream): Change {
  const { event, previous } = change;
  const forbidden = FORBIDDEN_NAMES.filter(
    (name) => !without.includes(name) && [event, previous ?? {}].some((row) => Object.hasOwn(row, name)),
  );
  if (without.length === 0 && forbidden.length === 0) return change;
  const kept = (row: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !without.includes(name) && !forbidden.includes(name)));
  const unknown = change.unknown.filter((name) => !without.includes(name));
  return {
    ...change,
    event: kept(event),
    ...(previous !== undefined && { previous: previous && kept(previous) }),
    unknown: [...new Set([...unknown, ...forbidden])],
  };
}

/** Bytes that a record with too many names has at least: each name has two quotes, a colon and a value. */
const BYTES_OF_TOO_MANY_NAMES = CHANGE_LIMITS.keys * 4;

/** Returns why the engine would refuse the record. Only a record that may be above a limit is read for that. */
function faultOf({ event, previous }: Change, value: Uint8Array): ChangeFault | null {
  const isSuspect =
    value.length > BYTES_OF_TOO_MANY_NAMES || [event, previous ?? null].some((row) => isDeeper(row, MAX_LEVELS));
  if (!isSuspect) return null;
  const read = readChange(value);
  return read.ok ? null : read.error;
}

/** The record of a change is one level around its rows. */
const MAX_LEVELS = CHANGE_LIMITS.depth - 1;

const isDeeper = (value: Json, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item: Json) => isDeeper(item, levels - 1)));

const REASONS: Readonly<Record<string, string>> = {
  body_too_large: 'change_too_large',
  too_deep: 'change_too_deep',
  too_many_keys: 'change_too_many_names',
};

const refusalOf = ({ code, detail }: ChangeFault, stream: SourceStream['stream']): Refusal => ({
  code,
  reason: REASONS[code] ?? 'change_refused',
  detail: `${detail} Leave columns out: name them in ${readsSource(stream) ? '`without` of the stream' : '`column.exclude.list` of the connector'}.`,
});

/** A change that was not expected to fail. The letter does not hold the text of the error, which may have values of the row. */
function unreadable(source: ChangeSource, placed: Placed, error: unknown, ports: ChangePorts): PreparedChange {
  const refusal = {
    code: 'internal',
    reason: 'change_unreadable',
    detail: 'Carillon failed to read it: the log of the engine has the error.',
  };
  const key = ports.ids.keyed('events', placed.stream.path, placed.id);
  const letter = refusedChange(source, { key, headers: headersOf(source, placed), ...refusal }, ports);
  return { record: deadLetterRecord(letter, ports), result: 'dead_letter', error, refusal };
}

/** The bytes are left out, because they may be too large for a dead letter too. */
function refusedChange(
  { integration, position, table }: ChangeSource,
  { key, headers, reason, detail }: Pick<DeadLetter, 'key' | 'headers' | 'reason' | 'detail'>,
  { ids, clock }: ChangePorts,
): DeadLetter {
  return {
    id: ids.derive('deadLetter', 'append', headers['event_id'] ?? ''),
    stage: 'append',
    workspace: headers['workspace'] ?? null,
    topic: `source ${integration}`,
    partition: 0,
    offset: 0,
    key,
    headers,
    value: new Uint8Array(),
    reason,
    detail: `The change ${position} of ${table} can never be read again. ${detail}`,
    at: clock.now(),
  };
}
