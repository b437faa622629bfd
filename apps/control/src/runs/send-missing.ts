import type { Configuration } from '@carillon/domain/configuration';
import type { Delivery, Intent } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import { CarillonError, formatInstant, type DeliveryId } from '@carillon/kernel';
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
import { givesAway, refuseAnswered, refuseNotified } from './refuse-notified.ts';
import { readAnswers, readEventAt } from './row-details.ts';
import { readSendItem, type SendItem } from './send-items.ts';

export type SendMissingPorts = Pick<
  ControlPorts,
  'claims' | 'clock' | 'codecs' | 'compileRule' | 'configuration' | 'ids' | 'ledger' | 'log' | 'slice' | 'templates'
>;

type Message = Extract<SendItem, { kind: 'message' }>;
type Question = Extract<SendItem, { kind: 'question' }>;

/** Messages and triggers of an event, as the job sends them. */
type Outputs = {
  readonly event: SourceEvent;
  /** The first message of each slot. */
  readonly messages: ReadonlyMap<DeliveryId, Intent>;
  readonly triggers: readonly Trigger[];
};

/** `takesStopped`: a person confirmed messages that ended unsent. Without it the job takes free slots only. */
export type MissingJob = SendingJob & { readonly takesStopped: boolean };

/** Sends the items of one job. */
export type MissingSender = {
  /**
   * Appends the intent of a message, or the triggers of a question. Repeating an item appends the same records. Rejects with CarillonError
   * `wrong_state` if the event is gone or its rule no longer fires, and with `conflict` if the person was notified meanwhile.
   */
  send(item: string): Promise<void>;
  /** Triggers of an item that is a question. None if the event is gone or its rule no longer asks. */
  triggersOf(item: string): Promise<readonly Trigger[]>;
};

/** Returns a sender that keeps the outputs of the last event, so that consecutive items of an event evaluate the event once. */
export function createMissingSender(
  job: MissingJob,
  configuration: Configuration,
  ports: SendMissingPorts,
): MissingSender {
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
  async function outputsOf(position: string): Promise<Outputs | null> {
    if (last?.position !== position) last = { position, outputs: await evaluate(position) };
    return last.outputs;
  }
  async function outputsAt(position: string): Promise<Outputs> {
    const outputs = await outputsOf(position);
    if (outputs) return outputs;
    throw new CarillonError(
      'wrong_state',
      `the event at ${position} is no longer on the log, so its message is unknown: compare again to see the events that are left`,
    );
  }

  async function sendMessage({ slot, position }: Message): Promise<void> {
    const outputs = await outputsAt(position);
    const { messages } = outputs;
    const intent = messages.get(slot);
    if (!intent) throw noMessage(outputs, slot, configuration.number);
    const [holder] = await ledger.many([slot]);
    if (holder && (holder.intent.id === intent.id || holder.judged.includes(intent.id))) return;
    if (holder) await refuseHolder(holder);
    await refuseNotified(intent, messages, ports);
    refuseExpired(intent, ports);
    await log.append([intentRecord(intent, ports)]);
  }

  /** Throws unless the holder of a slot gives the slot away and the job takes such slots. */
  async function refuseHolder(holder: Delivery): Promise<void> {
    const isStopped = await givesAway(holder, ports);
    if (job.takesStopped && isStopped) return;
    const detail = isStopped
      ? 'To send it, look again with the slot state stopped'
      : 'It is no longer missing, so nothing is left to do';
    throw new CarillonError('conflict', `the message exists meanwhile: ${holder.id} is ${holder.state}. ${detail}`);
  }

  const asks = ({ triggers }: Outputs, { rule }: Question): readonly Trigger[] =>
    triggers.filter((trigger) => trigger.rule === rule);

  async function askPartner(question: Question): Promise<void> {
    const outputs = await outputsAt(question.position);
    const asked = asks(outputs, question);
    if (!asked[0]) {
      throw new CarillonError(
        'wrong_state',
        `rule ${question.rule} asks no partner about event ${outputs.event.id}: it does not fire, or an answer is recorded. Compare again: a recorded answer gives messages that can be sent`,
      );
    }
    const rules = book.rulesOf(configuration, outputs.event.stream);
    await refuseAnswered(asked[0], rules, job.sentBy.job, ports);
    refuseExpired(asked[0], ports);
    await log.append(asked.map((trigger) => triggerRecord(trigger, ports)));
  }

  return {
    async send(text) {
      const item = readSendItem(text);
      await (item.kind === 'message' ? sendMessage(item) : askPartner(item));
    },
    async triggersOf(text) {
      const item = readSendItem(text);
      if (item.kind === 'message') return [];
      const outputs = await outputsOf(item.position);
      return outputs ? asks(outputs, item) : [];
    },
  };
}

/** Returns the failure of a message that its event does not cause under configuration `number`. */
function noMessage({ event, triggers }: Outputs, slot: DeliveryId, number: number): CarillonError {
  const causes = [
    'its rule does not fire',
    'the rule drops this recipient',
    'the rule gives another unique_id',
    ...(triggers.length > 0 ? ['no recorded answer of its partner is left'] : []),
  ];
  const why = `${causes.slice(0, -1).join(', ')}, or ${causes.at(-1)}`;
  return new CarillonError(
    'wrong_state',
    `event ${event.id} causes no message ${slot} by configuration ${number}: ${why}. Compare again to see what is missing now`,
  );
}

function refuseExpired(
  { notAfter }: Pick<Intent | Trigger, 'notAfter'>,
  { clock }: Pick<SendMissingPorts, 'clock'>,
): void {
  if (clock.now() < notAfter) return;
  const detail = `the message was of use until ${formatInstant(notAfter)}: send it again with a longer expires or a higher rate`;
  throw new CarillonError('wrong_state', detail);
}
