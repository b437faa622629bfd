import { partitionOf, type Intent, type Trigger } from '@carillon/domain';
import type { EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';

type Places = { readonly ids: Pick<Ids, 'keyed'>; readonly log: Pick<EventLog, 'partitions'> };

/** Keyed by slot, so that those who want the same slot are judged one after the other. */
export function intentRecord(
  intent: Intent,
  { ids, log, codecs }: Places & { readonly codecs: Pick<RecordCodecs, 'intent'> },
): NewRecord {
  const { workspace, notificationId, channel, uniqueId } = intent.slot;
  const key = ids.keyed('slot', workspace, notificationId, channel, uniqueId);
  return {
    topic: 'carillon.intents',
    partition: partitionOf(key, log.partitions('carillon.intents')),
    key,
    value: codecs.intent.encode(intent),
    headers: { ...(intent.traceparent !== null && { traceparent: intent.traceparent }) },
  };
}

export function triggerRecord(
  trigger: Trigger,
  { ids, log, codecs }: Places & { readonly codecs: Pick<RecordCodecs, 'trigger'> },
): NewRecord {
  const key = ids.keyed('trigger', trigger.id);
  const { traceparent, workspace } = trigger;
  return {
    topic: 'carillon.triggers',
    partition: partitionOf(key, log.partitions('carillon.triggers')),
    key,
    value: codecs.trigger.encode(trigger),
    headers: { workspace, ...(traceparent !== null && { traceparent }) },
  };
}
