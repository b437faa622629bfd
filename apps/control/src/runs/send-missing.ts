import type { Configuration } from '@carillon/domain/configuration';
import type { Delivery, Intent } from '@carillon/domain/deliveries';
import type { Trigger } from '@carillon/domain/lookups';
import { CarillonError, formatInstant, type DeliveryId } from '@carillon/kernel';
import { createRuleBook, intentRecord, triggerRecord, type SendingJob } from '@carillon/stages';
import type { ControlPorts } from '../ports.ts';
import { createOutputReader, type EventOutputPorts, type EventOutputs } from './event-outputs.ts';
import { readSendItem, type SendItem } from './send-items.ts';
import { createSendingChecks, givesAway, type SendingCheckPorts } from './sending-checks.ts';

export type SendMissingPorts = EventOutputPorts &
  SendingCheckPorts &
  Pick<ControlPorts, 'clock' | 'compileRule' | 'templates'>;

type Message = Extract<SendItem, { kind: 'message' }>;
type Question = Extract<SendItem, { kind: 'question' }>;

/** `takesStopped`: a person confirmed messages that ended unsent. Without it the job takes free slots only. */
export type MissingJob = SendingJob & { readonly takesStopped: boolean };

type SendingContext = {
  readonly workspace: string;
  readonly configuration: Configuration;
  /** Resolves when the messages of all recorded answers are in the ledger. */
  readonly caughtUp: () => Promise<void>;
};

/** Maximum deliveries read for one event and person. */
const MAX_OF_PERSON = 500;

/** Sends the items of one job. */
export type MissingSender = {
  /**
   * Appends the intent of a message, or the triggers of a question. Repeating an item appends the same records. Rejects with CarillonError
   * `wrong_state` if the event is gone or its rule no longer fires, and with `conflict` if the person was notified meanwhile.
   */
  send(item: string): Promise<void>;
};

/** Returns a sender of the items of one job. */
export async function createMissingSender(
  job: MissingJob,
  { configuration, workspace, caughtUp }: SendingContext,
  ports: SendMissingPorts,
): Promise<MissingSender> {
  const { ledger, log } = ports;
  const { takesStopped, sentBy } = job;
  const book = createRuleBook(ports.compileRule, ports.templates);
  const checks = await createSendingChecks(
    { workspace, configuration, takesStopped, caughtUp, job: sentBy.job },
    ports,
  );
  const readOutputs = createOutputReader({ job, configuration, book, askedBy: checks.askedBy }, ports);

  async function outputsAt(item: SendItem): Promise<EventOutputs> {
    const { position } = item;
    const outputs = await readOutputs(item);
    if (outputs) return outputs;
    throw new CarillonError(
      'wrong_state',
      `the event at ${position} is no longer on the log, so its message is unknown: compare again to see the events that are left`,
    );
  }

  async function sendMessage(item: Message): Promise<void> {
    const { slot } = item;
    const outputs = await outputsAt(item);
    const { messages } = outputs;
    const intent = messages.get(slot);
    if (!intent) throw noMessage(outputs, slot, configuration.number);
    const [holder] = await ledger.many([slot]);
    if (holder && (holder.intent.id === intent.id || holder.judged.includes(intent.id))) return;
    if (holder) await refuseHolder(holder);
    await refuseSecond(intent, outputs);
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

  async function refuseSecond({ eventId, person, slot }: Intent, { slots }: EventOutputs): Promise<void> {
    const why = await checks.whyNotSent({
      ...slot,
      eventId,
      deliveries: async () => (await ledger.list({ workspace, eventId, person }, MAX_OF_PERSON)).items,
      slots: async () => slots,
    });
    if (why !== null) throw new CarillonError('conflict', `not sent, because ${why}`);
  }

  async function askPartner(question: Question): Promise<void> {
    const outputs = await outputsAt(question);
    const asked = outputs.triggers.filter(({ rule }) => rule === question.rule);
    if (!asked[0]) {
      throw new CarillonError(
        'wrong_state',
        `rule ${question.rule} asks no partner about event ${outputs.event.id}: it does not fire, or an answer is recorded. Compare again: a recorded answer gives messages that can be sent`,
      );
    }
    const why = await checks.whyNotAsked({ eventId: outputs.event.id, rule: question.rule });
    if (why !== null) {
      throw new CarillonError(
        'conflict',
        `the partner was not asked about event ${outputs.event.id} for rule ${question.rule}, because ${why}`,
      );
    }
    refuseExpired(asked[0], ports);
    await log.append(asked.map((trigger) => triggerRecord(trigger, ports)));
  }

  return {
    async send(text) {
      const item = readSendItem(text);
      await (item.kind === 'message' ? sendMessage(item) : askPartner(item));
    },
  };
}

/** Returns the failure of a message that its event does not cause under configuration `number`. */
function noMessage({ event, triggers }: EventOutputs, slot: DeliveryId, number: number): CarillonError {
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
  const detail = `the message expired at ${formatInstant(notAfter)}: send it again with a longer expires or a higher rate`;
  throw new CarillonError('wrong_state', detail);
}
