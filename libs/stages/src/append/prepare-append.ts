import type { EventStream } from '@carillon/domain/configuration';
import { partitionOf, pointerTo, stepsOf, valueAtPath } from '@carillon/domain/events';
import {
  CarillonError,
  err,
  ok,
  parseInstant,
  readTraceparent,
  type EventId,
  type Instant,
  type JsonObject,
  type Result,
} from '@carillon/kernel';
import type { Ids, NewRecord } from '@carillon/ports';

/** Names an event. The same identity on the same stream gives the same event id. */
export type EventIdentity = readonly ['http', key: string] | readonly ['cloudevent', source: string, id: string];

/** A request that has passed every check before its body, and the body as it was read. */
export type AppendRequest = {
  readonly stream: EventStream;
  /** Bytes as received, which the log stores unchanged. */
  readonly bytes: Uint8Array;
  readonly body: JsonObject;
  /** Null: the event gets an id of its own. */
  readonly identity: EventIdentity | null;
  /** Sender for the audit: kind and name of the credential, never the credential itself. */
  readonly principal: string;
  /** The header, or null where none was sent. */
  readonly traceparent: string | null;
};

export type AppendSurroundings = {
  readonly ids: Pick<Ids, 'derive' | 'inOrder' | 'keyed'>;
  readonly now: Instant;
  /** Number of partitions of `carillon.events`. */
  readonly partitions: number;
};

export type PreparedAppend = { readonly id: EventId; readonly record: NewRecord };

/** How far ahead of the log an event's own time may be; what is later is taken back to that and marked. */
export const TIME_AHEAD = 60_000;
const LONGEST_KEY = 1024;

/**
 * Builds the record of a source event (flow table, stage 1), with its bytes unchanged and its routing facts in headers,
 * so that no reader computes them again. Equal stream and identity give the same id. Without an identity the id is new,
 * and sorts by time.
 */
export function prepareAppend(
  request: AppendRequest,
  around: AppendSurroundings,
): Result<PreparedAppend, CarillonError> {
  const { stream, body, identity } = request;
  const { ids } = around;
  const entity = stream.key === null ? ok(null) : readEntityKey(body, stream.key);
  if (!entity.ok) return entity;
  const time = stream.time === null ? ok({}) : readTime(body, stream.time, around.now);
  if (!time.ok) return time;
  const id = (
    identity === null ? ids.inOrder('event', around.now) : ids.derive('event', stream.path, ...identity)
  ) as EventId;
  const key = ids.keyed('events', stream.path, entity.value ?? id);
  const traceparent = readTraceparent(request.traceparent);
  return ok({
    id,
    record: {
      topic: 'carillon.events',
      partition: partitionOf(key, around.partitions),
      key,
      value: request.bytes,
      headers: {
        kind: 'event',
        enc: '0',
        event_id: id,
        workspace: stream.workspace,
        stream: stream.path,
        ...(entity.value !== null && { key: encodeURIComponent(entity.value) }),
        principal: request.principal,
        ...(traceparent !== null && { traceparent }),
        ...time.value,
      },
    },
  });
}

/**
 * Returns the entity that the event is about, or null if the path has no usable value. A number and the text of the same digits
 * name the same entity.
 */
export function entityAt(body: JsonObject, path: string): string | null {
  const value = valueAtPath(body, path);
  const text = typeof value === 'object' || value === undefined ? '' : String(value);
  return text !== '' && text.length <= LONGEST_KEY ? text : null;
}

function readEntityKey(body: JsonObject, path: string): Result<string, CarillonError> {
  const entity = entityAt(body, path);
  if (entity !== null) return ok(entity);
  const wanted = `a text of 1 to ${LONGEST_KEY} characters, a number or a boolean`;
  const detail = `This stream needs ${wanted} at ${path}. Send it with each event.`;
  return err(new CarillonError('missing_entity_key', detail, pointerFacts(path)));
}

/** Returns the event's own time as headers. */
export function readTime(body: JsonObject, path: string, now: Instant): Result<Record<string, string>, CarillonError> {
  const value = valueAtPath(body, path);
  const at = typeof value === 'string' ? parseInstant(value) : undefined;
  if (at === undefined) {
    const detail = `This stream needs an RFC 3339 time with zone at ${path}, such as "2026-01-31T12:00:00Z".`;
    return err(new CarillonError('missing_event_time', detail, pointerFacts(path)));
  }
  const latest = now + TIME_AHEAD;
  return ok(at > latest ? { time: String(latest), time_clamped: 'true' } : { time: String(at) });
}

function pointerFacts(path: string): { pointer?: string } {
  const pointer = pointerTo(stepsOf(path) ?? []);
  return pointer === undefined ? {} : { pointer };
}
