import type { Configuration } from '@carillon/domain/configuration';
import { givesSlotAway, type Delivery, type Intent } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import { CarillonError, type DeliveryId } from '@carillon/kernel';
import {
  createRuleBook,
  deliveryIdOf,
  intentRecord,
  runYielding,
  sentOutputsCoroutine,
  triggerRecord,
  type SendingJob,
} from '@carillon/stages';
import type { ControlPorts } from '../ports.ts';
import { readAnswers, readEventAt } from './row-details.ts';
import { readSendItem, type SendItem } from './send-items.ts';

export type SendMissingPorts = Pick<
  ControlPorts,
  'claims' | 'codecs' | 'compileRule' | 'configuration' | 'ids' | 'ledger' | 'log' | 'slice' | 'templates'
>;

/** Deliveries of one event to one person that are looked at. */
const MAX_OF_PERSON = 500;

/** What an event comes to for the job. */
type Outputs = {
  readonly event: SourceEvent;
  /** The first message of each slot. */
  readonly messages: ReadonlyMap<DeliveryId, Intent>;
  readonly triggers: readonly Trigger[];
};

/**
 * Returns a function that sends an item: it appends the intent of a message, or the triggers of a lookup. Repeating an item appends the same
 * records. It rejects with CarillonError `wrong_state` if the event is gone or its rule no longer fires, and with `conflict` if the
 * person was notified meanwhile. It keeps the outputs of the last event, so that consecutive items of an event evaluate the event once.
 */
export function createMissingSender(
  job: SendingJob,
  configuration: Configuration,
  ports: SendMissingPorts,
): (item: string) => Promise<void> {
  const { ids, ledger, log, slice } = ports;
  const book = createRuleBook(ports.compileRule, ports.templates);

  async function evaluate(position: string): Promise<Outputs | null> {
    const event = await readEventAt(position, ports);
    if (!event) return null;
    const findAnswer = await readAnswers(
      event,
      { configurations: { before: configuration, after: configuration }, book },
      ports,
    );
    const work = sentOutputsCoroutine(event, { book, configuration, findAnswer, ids, job });
    const { intents, triggers } = await runYielding(work, slice);
    const messages = new Map<DeliveryId, Intent>();
    for (const intent of intents) {
      const slot = deliveryIdOf(intent, ids);
      if (!messages.has(slot)) messages.set(slot, intent);
    }
    return { event, messages, triggers };
  }

  let last: { readonly position: string; readonly outputs: Outputs | null } | null = null;
  async function outputsAt(position: string): Promise<Outputs> {
    if (last?.position !== position) last = { position, outputs: await evaluate(position) };
    if (last.outputs) return last.outputs;
    throw new CarillonError(
      'wrong_state',
      `the event at ${position} is no longer on the log, so its message is unknown`,
    );
  }

  async function sendMessage({ slot, position }: Extract<SendItem, { kind: 'message' }>): Promise<void> {
    const { event, messages } = await outputsAt(position);
    const intent = messages.get(slot);
    if (!intent) {
      const by = `by configuration ${configuration.number}`;
      throw new CarillonError(
        'wrong_state',
        `event ${event.id} causes no message ${slot} ${by}: its rule does not fire`,
      );
    }
    const [holder] = await ledger.many([slot]);
    if (holder && (holder.intent.id === intent.id || holder.judged.includes(intent.id))) return;
    if (holder) await refuseHolder(holder);
    await refuseNotified(intent, messages);
    await log.append([intentRecord(intent, ports)]);
  }

  /** Throws unless the holder of a slot gives the slot away. */
  async function refuseHolder(holder: Delivery): Promise<void> {
    if (await givesAway(holder)) return;
    throw new CarillonError('conflict', `the message was sent or stopped meanwhile: ${holder.id} is ${holder.state}`);
  }

  /** Throws if the person gets a message about this event under a unique_id that the configuration no longer gives. */
  async function refuseNotified(intent: Intent, messages: Outputs['messages']): Promise<void> {
    const { eventId, person, slot } = intent;
    const { items } = await ledger.list({ workspace: slot.workspace, eventId, person }, MAX_OF_PERSON);
    for (const other of items) {
      const isSame = other.slot.notificationId === slot.notificationId && other.slot.channel === slot.channel;
      if (!isSame || messages.has(other.id) || (await givesAway(other))) continue;
      const detail = `the person has a message about this event under another unique_id: ${other.id} is ${other.state}`;
      throw new CarillonError('conflict', detail);
    }
  }

  async function givesAway(holder: Delivery): Promise<boolean> {
    const digest = holder.digestedIn === undefined ? null : await ledger.get(holder.digestedIn);
    return givesSlotAway(holder, digest);
  }

  async function askPartner({ position, rule }: Extract<SendItem, { kind: 'question' }>): Promise<void> {
    const { event, triggers } = await outputsAt(position);
    const asked = triggers.filter((trigger) => trigger.rule === rule);
    if (asked.length === 0) {
      throw new CarillonError(
        'wrong_state',
        `rule ${rule} asks no partner about event ${event.id}: it does not fire, or an answer is recorded`,
      );
    }
    await log.append(asked.map((trigger) => triggerRecord(trigger, ports)));
  }

  return async (text) => {
    const item = readSendItem(text);
    await (item.kind === 'message' ? sendMessage(item) : askPartner(item));
  };
}
