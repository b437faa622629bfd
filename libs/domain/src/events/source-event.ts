import type { EventId, Instant, JsonObject } from '@carillon/kernel';
import type { Change } from '../changes/change.ts';
import type { Position } from './position.ts';

/**
 * One free-form JSON object received on a stream, or one change read from a source. The log keeps the bytes of an event
 * unchanged.
 */
export type SourceEvent = {
  readonly id: EventId;
  readonly workspace: string;
  /** The EVENT_PATH, e.g. `shop/orders`. */
  readonly stream: string;
  /** Entity key that the gateway computed. Later readers use it unchanged. Null on a stream without a key. */
  readonly key: string | null;
  /** Value that rules see as `event`: the received object, or the row of the change. */
  readonly body: JsonObject;
  /** Null for an event that was received. */
  readonly change: Change | null;
  readonly position: Position;
  /** Append time of the record. */
  readonly appendedAt: Instant;
  /**
   * Value that rules see as `time`: the value at the stream's `time` path, else the commit time of a change, else the
   * append time.
   */
  readonly time: Instant;
  /** W3C traceparent of the request, if any. */
  readonly traceparent: string | null;
};
