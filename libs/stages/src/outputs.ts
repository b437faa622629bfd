import type { Intent } from '@carillon/domain/deliveries';
import { partitionOf, type Evaluation } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import type { EventLog, Ids, EvaluationOutput, NewRecord, RecordCodecs } from '@carillon/ports';

type Places = { readonly ids: Pick<Ids, 'keyed'>; readonly log: Pick<EventLog, 'partitions'> };

/** Keyed by slot, so that those who want the same slot are judged one after the other. */
export function placeOfIntent({ slot }: Pick<Intent, 'slot'>, { ids, log }: Places) {
  const key = ids.keyed('slot', slot.workspace, slot.notificationId, slot.channel, slot.uniqueId);
  const topic = 'carillon.intents';
  return { topic, partition: partitionOf(key, log.partitions(topic)), key } as const;
}

export function placeOfTrigger({ id }: Pick<Trigger, 'id'>, { ids, log }: Places) {
  const key = ids.keyed('trigger', id);
  const topic = 'carillon.triggers';
  return { topic, partition: partitionOf(key, log.partitions(topic)), key } as const;
}

export function intentRecord(
  intent: Intent,
  ports: Places & { readonly codecs: Pick<RecordCodecs, 'intent'> },
): NewRecord {
  return {
    ...placeOfIntent(intent, ports),
    value: ports.codecs.intent.encode(intent),
    headers: { ...(intent.traceparent !== null && { traceparent: intent.traceparent }) },
  };
}

export function triggerRecord(
  trigger: Trigger,
  ports: Places & { readonly codecs: Pick<RecordCodecs, 'trigger'> },
): NewRecord {
  const { traceparent, workspace } = trigger;
  return {
    ...placeOfTrigger(trigger, ports),
    value: ports.codecs.trigger.encode(trigger),
    headers: { workspace, ...(traceparent !== null && { traceparent }) },
  };
}

const evaluationRecord = (evaluation: Evaluation, codecs: Pick<RecordCodecs, 'evaluation'>): NewRecord => ({
  topic: 'carillon.evaluations',
  partition: evaluation.partition,
  key: String(evaluation.partition),
  value: codecs.evaluation.encode(evaluation),
  headers: {},
});

/** Encodes the outputs of evaluations as records of the live topics. */
export const createEncoder =
  (ports: Places & { readonly codecs: Pick<RecordCodecs, 'intent' | 'trigger' | 'evaluation'> }) =>
  (output: EvaluationOutput): NewRecord => {
    switch (output.kind) {
      case 'intent':
        return intentRecord(output.intent, ports);
      case 'trigger':
        return triggerRecord(output.trigger, ports);
      case 'evaluation':
        return evaluationRecord(output.evaluation, ports.codecs);
      case 'record':
        return output.record;
    }
  };
