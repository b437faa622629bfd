import type { EventId, Instant, JsonObject } from '@carillon/kernel';
import type { Position } from './position.ts';

/** One free-form JSON object received on a stream. The bytes are kept as they came; `body` is their exact reading. */
export type SourceEvent = {
  readonly id: EventId;
  readonly workspace: string;
  /** The EVENT_PATH, e.g. `shop/orders`. */
  readonly stream: string;
  /** The entity key that the gateway used; nobody computes it again. Null on a stream without a key. */
  readonly key: string | null;
  readonly body: JsonObject;
  readonly position: Position;
  /** Append time of the record. */
  readonly appendedAt: Instant;
  /** Time of the event: that of the stream's `time` path where it has one, else the append time. */
  readonly time: Instant;
  /** W3C traceparent of the request, if any. */
  readonly traceparent: string | null;
};
