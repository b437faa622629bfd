import { committedAt, readChange, type Change } from '@carillon/domain/changes';
import {
  EVENT_LIMITS,
  partitionOf,
  readEvent,
  type FieldReader,
  type Position,
  type SourceEvent,
} from '@carillon/domain/events';
import type { Entity } from '@carillon/domain/rules';
import {
  err,
  ok,
  readTraceparent,
  type EventId,
  type Instant,
  type JsonObject,
  type LogId,
  type Result,
} from '@carillon/kernel';
import { ERASED, type Ids, type LogRecord, type NewRecord } from '@carillon/ports';

/**
 * Version of the evaluation's semantics, raised when the same log would give other intents (promise 6). 2: an event and
 * each of its rules have a step budget, addresses have one canonical form, and CEL accepts what it refused before. 3:
 * events may be changes of a database. Since 3, an engine stops at markers with a higher number. 4: rules look at more
 * than one event, and wait.
 */
export const ENGINE_SEMANTICS = 4;

/** Says that events after it, in its own partition, are judged by this configuration and these semantics. */
export type Marker = {
  readonly kind: 'marker';
  readonly configNumber: number;
  readonly semantics: number;
  readonly position: Position;
  readonly appendedAt: Instant;
};
/** Moves the watermark of a quiet partition up to its append time. It changes when a wait fires, never whether. */
export type Tick = { readonly kind: 'tick'; readonly position: Position; readonly appendedAt: Instant };
/** A record whose event an erasure removed. Evaluating it is evaluating nothing. */
export type ErasedEvent = { readonly kind: 'erased'; readonly position: Position; readonly appendedAt: Instant };
/** Has all rules of a stream forget an entity, and ends its waits without a message. */
export type Forget = {
  readonly kind: 'forget';
  readonly entity: Entity;
  readonly position: Position;
  readonly appendedAt: Instant;
};
/** Kinds of records in `carillon.events`. A closed set. */
export type SourceRecord =
  | { readonly kind: 'event'; readonly event: SourceEvent }
  | Marker
  | Tick
  | ErasedEvent
  | Forget;

/** Why a record of the event log can never be read; `reason` is a class for the dead letter, `detail` holds no values. */
export type SourceRecordFault = { readonly reason: string; readonly detail: string };

const fault = (reason: string, detail: string): Result<never, SourceRecordFault> => err({ reason, detail });

/** Returns the stream of an event, or of an erased one, read from the headers alone. Null for other records, and for an event whose headers are wrong. */
export const streamOfRecord = ({ headers }: Pick<LogRecord, 'headers'>): string | null =>
  headers['kind'] === 'event' || headers['kind'] === ERASED ? headers['stream'] || null : null;

/**
 * Reads a record of `carillon.events`: what `prepareAppend` and `markerRecord` wrote. Never throws, because the log may
 * hold what another program wrote. The caller has made sure that `logId` is the log that the record comes from.
 */
export function readSourceRecord(record: LogRecord, logId: LogId): Result<SourceRecord, SourceRecordFault> {
  const { topic, partition, offset, headers } = record;
  const position: Position = { logId, topic, partition, offset };
  const kind = headers['kind'];
  if (kind === 'event') return readEventRecord(record, position);
  if (kind === 'marker') return readMarker(record, position);
  if (kind === 'forget') return readForget(record, position);
  if (kind === 'tick' || kind === ERASED) return ok({ kind, position, appendedAt: record.time });
  return fault(
    'unknown_kind',
    kind === undefined ? 'The record has no header kind.' : 'The record is of no known kind.',
  );
}

/**
 * Reads an event with some fields of its body. If this returns an event, `readSourceRecord` reads the same event with its whole body. Null
 * for all other records, and for an event that the reader of fields leaves to `readSourceRecord`.
 */
export function readEventFields(record: LogRecord, logId: LogId, readFields: FieldReader): SourceEvent | null {
  const { topic, partition, offset, headers, value } = record;
  if (headers['kind'] !== 'event' || headers['shape'] !== undefined || value.length > EVENT_LIMITS.bytes) return null;
  const read = readEventRecord(record, { logId, topic, partition, offset }, () => {
    const body = readFields(value);
    return body === null
      ? fault('not_read', 'The reader of fields leaves the event to the reader of events.')
      : ok({ body });
  });
  return read.ok ? read.value.event : null;
}

type ReadEventRecord = Result<Extract<SourceRecord, { readonly kind: 'event' }>, SourceRecordFault>;

function readEventRecord(record: LogRecord, position: Position, readContent = contentOf): ReadEventRecord {
  const { headers } = record;
  const { event_id: id, workspace, stream, key = null, time } = headers;
  if (headers['enc'] !== '0') return fault('unknown_encoding', 'The header enc is not 0: the body cannot be read.');
  if (!id || !workspace || !stream) {
    return fault('missing_header', 'An event needs the headers event_id, workspace and stream.');
  }
  const ownTime = time === undefined ? undefined : readHeaderTime(time);
  const entity = key === null ? null : decodeText(key);
  if (time !== undefined && ownTime === undefined)
    return fault('invalid_header', 'The header time is not a number of milliseconds before the year 10000.');
  if (entity === undefined) return fault('invalid_header', 'The header key is not percent-encoded text.');
  const content = readContent(record);
  if (!content.ok) return content;
  const { change = null } = content.value;
  const event: SourceEvent = {
    id: id as EventId,
    workspace,
    stream,
    key: entity,
    body: content.value.body,
    change,
    position,
    appendedAt: record.time,
    time: ownTime ?? (change === null ? undefined : committedAt(change.source)) ?? record.time,
    traceparent: readTraceparent(headers['traceparent'] ?? null),
  };
  return ok({ kind: 'event', event });
}

type Content = { readonly body: JsonObject; readonly change?: Change };

const contentOf = ({ headers: { shape }, value }: LogRecord): Result<Content, SourceRecordFault> =>
  shape === undefined ? readBody(value) : readShape(shape, value);

function readBody(bytes: Uint8Array): Result<Content, SourceRecordFault> {
  // The intake takes no more. A larger record is another program's, and its messages would be too large for a topic.
  if (bytes.length > EVENT_LIMITS.bytes) {
    return fault('body_too_large', `The event has ${bytes.length} bytes; at most ${EVENT_LIMITS.bytes} are allowed.`);
  }
  const read = readEvent(bytes);
  return read.ok ? read : fault(read.error.code, read.error.detail);
}

function readShape(shape: string, bytes: Uint8Array): Result<Content, SourceRecordFault> {
  if (shape !== 'change') return fault('unknown_shape', 'The header shape is not change: the body cannot be read.');
  const read = readChange(bytes);
  return read.ok ? ok({ body: read.value.event, change: read.value }) : fault(read.error.code, read.error.detail);
}

function readForget({ headers, time }: LogRecord, position: Position): Result<SourceRecord, SourceRecordFault> {
  const { workspace, stream, key } = headers;
  if (!workspace || !stream || !key) {
    return fault(
      'missing_header',
      'A record that has an entity forgotten needs the headers workspace, stream and key.',
    );
  }
  const entity = decodeText(key);
  if (entity === undefined) return fault('invalid_header', 'The header key is not percent-encoded text.');
  return ok({ kind: 'forget', entity: { workspace, stream, key: entity }, position, appendedAt: time });
}

function readMarker(record: LogRecord, position: Position): Result<SourceRecord, SourceRecordFault> {
  const { config, semantics, log_id: logId } = record.headers;
  if (logId !== undefined && logId !== position.logId) {
    return fault('wrong_log', 'The marker belongs to another log.');
  }
  const configNumber = wholeNumber(config ?? '');
  const level = wholeNumber(semantics ?? '');
  if (configNumber === undefined || level === undefined) {
    return fault('invalid_header', 'A marker needs the headers config and semantics, both numbers.');
  }
  return ok({ kind: 'marker', configNumber, semantics: level, position, appendedAt: record.time });
}

function wholeNumber(text: string): number | undefined {
  const number = /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

/** End of the year 9999, the last that RFC 3339 can say. A later deadline has no text, and a store has no room for it. */
const MAX_TIME: Instant = 253_402_300_799_999;

function readHeaderTime(text: string): Instant | undefined {
  const time = wholeNumber(text);
  return time !== undefined && Math.abs(time) <= MAX_TIME ? time : undefined;
}

function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * The marker of a configuration number for one partition; publishing appends one to each. It carries the log id, so
 * that a marker copied from another log is never taken for one of this.
 */
export function markerRecord(
  partition: number,
  number: number,
  semantics: number = ENGINE_SEMANTICS,
  logId: LogId | null = null,
): NewRecord {
  return {
    topic: 'carillon.events',
    partition,
    key: 'marker',
    value: new Uint8Array(),
    headers: {
      kind: 'marker',
      enc: '0',
      config: String(number),
      semantics: String(semantics),
      ...(logId !== null && { log_id: logId }),
    },
  };
}

/** The tick of a partition. Engines have read ticks since the first release, and nothing else of it is read. */
export const tickRecord = (partition: number): NewRecord => ({
  topic: 'carillon.events',
  partition,
  key: 'tick',
  value: new Uint8Array(),
  headers: { kind: 'tick', enc: '0' },
});

/** The record that has an entity forgotten, in the partition of its events. `principal`: who asked for it. */
export function forgetRecord(
  { workspace, stream, key }: Entity,
  principal: string,
  { ids, partitions }: { readonly ids: Pick<Ids, 'keyed'>; readonly partitions: number },
): NewRecord {
  const recordKey = ids.keyed('events', stream, key);
  return {
    topic: 'carillon.events',
    partition: partitionOf(recordKey, partitions),
    key: recordKey,
    value: new Uint8Array(),
    headers: { kind: 'forget', enc: '0', workspace, stream, key: encodeURIComponent(key), principal },
  };
}
