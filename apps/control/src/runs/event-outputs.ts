import type { Configuration } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import type { DeliveryId, JobId } from '@carillon/kernel';
import {
  deliveryIdOf,
  isRuleOfRow,
  runYielding,
  sentOutputsCoroutine,
  type RuleBook,
  type SendingJob,
} from '@carillon/stages';
import type { ControlPorts } from '../ports.ts';
import type { QuestionPorts } from './questions.ts';
import { readAnswers, readEventAt } from './row-details.ts';
import type { SendItem } from './send-items.ts';

export type EventOutputPorts = QuestionPorts & Pick<ControlPorts, 'codecs' | 'log' | 'slice'>;

/** Messages and triggers of an event, as a sending job sends them. */
export type EventOutputs = {
  readonly event: SourceEvent;
  /** The first message of each slot that may be sent. */
  readonly messages: ReadonlyMap<DeliveryId, Intent>;
  /** Slots that the event may have under its rules, also of messages that are not sent. */
  readonly slots: ReadonlySet<DeliveryId>;
  readonly triggers: readonly Trigger[];
};

type OutputContext = {
  readonly job: SendingJob;
  readonly configuration: Configuration;
  readonly book: RuleBook;
  /** Sending jobs whose recorded answers count, beside those of the live rule. */
  readonly askedBy: readonly JobId[];
};

/** An event, and the rule with state that a comparison found to fire for it. */
export type EventItem = Pick<SendItem, 'position' | 'rule' | 'at' | 'totals'>;

/**
 * Returns a function that evaluates the event at a position. It resolves to null if the event is gone. It keeps the outputs of the last
 * event, so that consecutive items of an event evaluate the event once.
 */
export function createOutputReader(
  { job, configuration, book, askedBy }: OutputContext,
  ports: EventOutputPorts,
): (item: EventItem) => Promise<EventOutputs | null> {
  const { ids, slice } = ports;

  async function evaluate({ position, rule, at, totals }: EventItem): Promise<EventOutputs | null> {
    const event = await readEventAt(position, ports);
    if (!event) return null;
    const rules = { configurations: { before: configuration, after: configuration }, book };
    const findAnswer = await readAnswers(event, { ...rules, askedBy }, ports);
    const firing = at === null ? null : { isMeant: isRuleOfRow({ rule }), at, totals };
    const work = sentOutputsCoroutine(event, { book, configuration, findAnswer, ids, job }, firing);
    const { intents, others, triggers } = await runYielding(work, slice);
    const messages = new Map<DeliveryId, Intent>();
    for (const intent of intents) {
      const slot = deliveryIdOf(intent, ids);
      if (!messages.has(slot)) messages.set(slot, intent);
    }
    const slots = new Set([...messages.keys(), ...others.map((intent) => deliveryIdOf(intent, ids))]);
    return { event, messages, slots, triggers };
  }

  let last: { readonly key: string; readonly outputs: EventOutputs | null } | null = null;
  return async (item) => {
    const key = `${item.position} ${item.rule} ${item.at}`;
    if (last?.key !== key) last = { key, outputs: await evaluate(item) };
    return last.outputs;
  };
}
