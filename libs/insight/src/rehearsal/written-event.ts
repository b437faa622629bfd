import { readTriedChange } from '@carillon/domain/changes';
import type { EventStream, PlacedRule } from '@carillon/domain/configuration';
import { CHANGE_LIMITS, EVENT_LIMITS, readEvent, type SourceEvent } from '@carillon/domain/events';
import { err, ok, type ErrorCode, type ErrorFacts, type EventId, type Instant, type Result } from '@carillon/kernel';
import { entityAt, readTime } from '@carillon/stages';
import { triedChange, triedEvent, triedSource } from '../sample/tried-event.ts';

/** An event of a rehearsal as a person writes it, each part as JSON text. `op` and `previous`: the event is the row of a change. */
export type WrittenEvent = { readonly event: string; readonly op?: string; readonly previous?: string };

/** Why a written event cannot be read, with the part that is wrong. */
export type WrittenFault = {
  readonly field: keyof WrittenEvent;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly facts?: ErrorFacts;
};

/** Rule, stream, time and id for an event that a person wrote to test a rule. */
export type WrittenFor = {
  readonly placed: PlacedRule;
  /** Null: the rule's stream is not in the configuration. */
  readonly stream: EventStream | null;
  readonly at: Instant;
  readonly id: EventId;
};

/** Reads an event as the intake would, or a change as its source would be read. Its key is null until `withEntity`. */
export function readWrittenEvent(
  written: WrittenEvent,
  { placed, stream, at, id }: WrittenFor,
): Result<SourceEvent, WrittenFault> {
  const source = triedSource(stream, at);
  if (source) {
    const text = changeText(written);
    if (!text.ok) return text;
    const change = readTriedChange(new TextEncoder().encode(text.value), source);
    return change.ok
      ? ok(withTime(triedChange(placed, change.value, at, id), stream))
      : fault('event', change.error.detail);
  }
  for (const field of ['op', 'previous'] as const) {
    if (written[field] !== undefined) return fault(field, 'only a stream of changes has it. Leave it out.');
  }
  const bytes = new TextEncoder().encode(written.event);
  if (bytes.length > EVENT_LIMITS.bytes) return fault('event', `an event has at most ${EVENT_LIMITS.bytes} bytes`);
  const read = readEvent(bytes);
  if (!read.ok) {
    const { code, detail, ...facts } = read.error;
    return err({ field: 'event', code, detail, facts });
  }
  return ok(withTime(triedEvent(placed, read.value.body, at, id), stream));
}

const fault = (field: keyof WrittenEvent, detail: string): Result<never, WrittenFault> =>
  err({ field, code: 'invalid_request', detail });

/** Returns the change as one text. Each part is read by itself first, so that no part can end another. */
function changeText({ event, op, previous }: WrittenEvent): Result<string, WrittenFault> {
  if (op === undefined && previous === undefined) return ok(event);
  if (op === undefined) return fault('op', 'write the kind of change: "update"');
  const parts: string[] = [`"op":${JSON.stringify(op)}`];
  for (const [field, text] of [
    ['event', event],
    ['previous', previous],
  ] as const) {
    if (text === undefined) continue;
    if (text.trim() !== 'null') {
      const read = readEvent(new TextEncoder().encode(text), CHANGE_LIMITS);
      if (!read.ok) return fault(field, read.error.detail);
    }
    parts.push(`"${field}":${text}`);
  }
  return ok(`{${parts.join(',')}}`);
}

function withTime(event: SourceEvent, stream: EventStream | null): SourceEvent {
  if (stream === null || stream.time === null) return event;
  const time = readTime(event.body, stream.time, event.appendedAt);
  return time.ok ? { ...event, time: Number(time.value['time']) } : event;
}

/** Path of the key of an event. For a stream with `from` that of the event's table or topic. Null: its stream has no key. */
export function keyPathOf({ body }: PlacedRule, stream: EventStream | null, event: SourceEvent): string | null {
  if (body.cohort) return 'event.user_id';
  const { from = null, key = null } = stream ?? {};
  if (from === null) return key;
  const paths = from.tables ?? from.topics ?? {};
  return paths[event.change?.source.table ?? ''] ?? Object.values(paths)[0] ?? null;
}

/** Returns the event with its entity: the value at the stream's key. An event without it keeps the entity that it has. */
export function withEntity(event: SourceEvent, placed: PlacedRule, stream: EventStream | null): SourceEvent {
  const path = keyPathOf(placed, stream, event);
  const key = path === null ? null : entityAt(event.body, path);
  return { ...event, key: key ?? event.key };
}
