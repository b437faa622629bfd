import type { PlacedRule } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import type { EventId, Instant, JsonObject, LogId } from '@carillon/kernel';

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
