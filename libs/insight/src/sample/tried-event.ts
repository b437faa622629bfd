import type { Change, ChangeSource } from '@carillon/domain/changes';
import type { EventStream, PlacedRule } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import { formatInstant, parseInstant, type EventId, type Instant, type JsonObject, type LogId } from '@carillon/kernel';

/** What of an event that fired goes into a sample. */
export type FiredEvent = Pick<SourceEvent, 'body' | 'change'>;

/** An event that a rule is tried out with: it stands on no log. */
export const triedEvent = (placed: PlacedRule, body: JsonObject, now: Instant, id: EventId): SourceEvent => ({
  id,
  workspace: placed.workspace,
  stream: placed.stream,
  key: null,
  body,
  change: null,
  position: { logId: '' as LogId, topic: 'test', partition: 0, offset: 0 },
  appendedAt: now,
  time: now,
  traceparent: null,
});

/** Returns a change with which a rule is tried. It is on no log. */
export const triedChange = (placed: PlacedRule, change: Change, now: Instant, id: EventId): SourceEvent => ({
  ...triedEvent(placed, change.event, now, id),
  change,
  time: parseInstant(change.source.at) ?? now,
});

/** Returns the source of an invented change: the first table of the stream. Null if the stream has no changes. */
export function triedSource(stream: Pick<EventStream, 'from'> | undefined, now: Instant): ChangeSource | null {
  if (!stream?.from) return null;
  const [table = ''] = Object.keys(stream.from.tables);
  return { integration: stream.from.integration, table, tx: 1, position: '0/1:1', at: formatInstant(now) };
}
