import type { Change, ChangeSource } from '@carillon/domain/changes';
import { takesChanges, type EventStream, type PlacedRule } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import { formatInstant, parseInstant, type EventId, type Instant, type JsonObject, type LogId } from '@carillon/kernel';

/** Parts of a fired event that a sample uses. */
export type FiredEvent = Pick<SourceEvent, 'body' | 'change'>;

/** Returns an event for trying a rule. It is not on the log. */
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

/** Returns the source of an invented change: the first table or topic of the stream. Null if the stream has no changes. */
export function triedSource(stream: EventStream | null, now: Instant): ChangeSource | null {
  if (stream === null || !takesChanges(stream)) return null;
  const { from, path } = stream;
  const [table = ''] = Object.keys(from?.tables ?? from?.topics ?? {});
  return { integration: from?.integration ?? path, table, tx: 1, position: '0/1:1', at: formatInstant(now) };
}
