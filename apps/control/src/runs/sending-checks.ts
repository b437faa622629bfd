import {
  findResource,
  notificationIdOf,
  readRuleTitle,
  ruleIdFrom,
  type Configuration,
} from '@carillon/domain/configuration';
import { givesSlotAway, type Delivery, type Slot } from '@carillon/domain/deliveries';
import type { DeliveryId, EventId, JobId } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';
import { askedPartsOf, askingRulesOf, type QuestionPorts } from './questions.ts';
import { askingJobs } from './sending-jobs.ts';

export type SendingCheckPorts = QuestionPorts & Pick<ControlPorts, 'configuration' | 'jobs' | 'ledger'>;

/** A message that a job sends or a look counts. */
export type CheckedMessage = {
  readonly eventId: EventId;
  readonly notificationId: Slot['notificationId'];
  readonly channel: Slot['channel'];
  /** Reads the deliveries of the event to the person. */
  readonly deliveries: () => Promise<readonly Delivery[]>;
  /** Reads the slots that the event has under the present rules. */
  readonly slots: () => Promise<Pick<ReadonlySet<DeliveryId>, 'has'>>;
};

/** A question to a partner that a job asks or a look counts. `rule` is `notification.rule`. */
export type CheckedQuestion = { readonly eventId: EventId; readonly rule: string };

/**
 * Finds messages that would notify a person twice. A search for missing messages and its job use the same checks, so
 * that the search counts what the job sends.
 */
export type SendingChecks = {
  /** Sending jobs of the workspace that may have asked a partner, without the job itself. */
  readonly askedBy: readonly JobId[];
  /** Returns why the person has or may get another message about the event. Null: the message may be sent. */
  whyNotSent(message: CheckedMessage): Promise<string | null>;
  /** Returns why the partner's answer may give a person a second message, or who asked the partner before. Null: it may be asked. */
  whyNotAsked(question: CheckedQuestion): Promise<string | null>;
};

type CheckContext = {
  readonly workspace: string;
  /** The job that sends. Null in a look. */
  readonly job: JobId | null;
  /** A person confirmed messages that ended unsent. */
  readonly takesStopped: boolean;
  /** The configuration that events are evaluated by. */
  readonly configuration: Configuration;
  /** Resolves when the messages of all recorded answers are in the ledger. A look does not wait. */
  readonly caughtUp: () => Promise<void>;
};

/** Resolves to true if a delivery ended unsent and gives its slot to another intent. */
export async function givesAway(holder: Delivery, { ledger }: Pick<ControlPorts, 'ledger'>): Promise<boolean> {
  const digest = holder.digestedIn === undefined ? null : await ledger.get(holder.digestedIn);
  return givesSlotAway(holder, digest);
}

export async function createSendingChecks(
  { workspace, job, takesStopped, configuration, caughtUp }: CheckContext,
  ports: SendingCheckPorts,
): Promise<SendingChecks> {
  const { ledger } = ports;
  const askedBy = (await askingJobs(workspace, ports)).filter((id) => id !== job);
  let asking: ReturnType<typeof askingRulesOf> | null = null;
  /** The result by question. Null in a job, where partners answer between two items. */
  const looked = job === null ? new Map<string, Promise<string | null>>() : null;

  /** Returns the question about the event whose answer may still notify somebody. */
  function whyUnanswered(eventId: EventId, notificationId: string): Promise<string | null> {
    const key = `${eventId} ${notificationId}`;
    const known = looked?.get(key);
    if (known) return known;
    const found = findUnanswered(eventId, notificationId);
    looked?.set(key, found);
    return found;
  }

  async function findUnanswered(eventId: EventId, notificationId: string): Promise<string | null> {
    asking ??= askingRulesOf(workspace, ports.configuration);
    let isAnswered = false;
    for (const ruleId of asking.get(notificationId) ?? []) {
      for (const asker of [null, ...askedBy]) {
        for (const { state } of await askedPartsOf({ ruleId, eventId, askedBy: asker }, ports)) {
          const who = asker ?? 'the live rule';
          if (state === 'open') {
            return `a partner whom ${who} asked about event ${eventId} has not answered yet, and its answer may notify the same person: send again when it has answered`;
          }
          isAnswered ||= state === 'answered';
        }
      }
    }
    if (isAnswered) await caughtUp();
    return null;
  }

  /** Returns the state of a delivery that forbids another message. Null: it ended unsent, and a person confirmed such messages. */
  async function blocking(other: Delivery): Promise<string | null> {
    const isStopped = await givesAway(other, ports);
    if (isStopped && takesStopped) return null;
    const fix = isStopped ? '. To send it, look again with the slot state stopped' : '';
    return `${other.id} is ${other.state}${fix}`;
  }

  async function earlierAsker(ruleId: string, eventId: EventId): Promise<JobId | null> {
    for (const asker of askedBy) {
      const parts = await askedPartsOf({ ruleId, eventId, askedBy: asker }, ports);
      if (parts.length > 0 && parts.every(({ state }) => state === 'answered')) return asker;
    }
    return null;
  }

  return {
    askedBy,
    async whyNotSent({ eventId, notificationId, channel, deliveries, slots }) {
      const unanswered = await whyUnanswered(eventId, notificationId);
      if (unanswered !== null) return unanswered;
      for (const other of await deliveries()) {
        const isSame = other.slot.notificationId === notificationId && other.slot.channel === channel;
        // The items of a digest are deliveries of their own.
        if (!isSame || other.intent.digest || (await slots()).has(other.id)) continue;
        const blocks = await blocking(other);
        if (blocks !== null) return `the person has a message about this event under another unique_id: ${blocks}`;
      }
      return null;
    },
    async whyNotAsked({ eventId, rule }) {
      const known = ruleNamed(rule, workspace, configuration);
      if (!known) return null;
      const { ruleId, notificationId, otherRules } = known;
      const asker = await earlierAsker(ruleId, eventId);
      if (asker !== null) return `${asker} asked before, and its answer is recorded: compare again to see its messages`;
      const unanswered = await whyUnanswered(eventId, notificationId);
      if (unanswered !== null) return unanswered;
      for (const other of await ledger.byEvent(eventId)) {
        if (other.slot.notificationId !== notificationId || other.intent.digest) continue;
        if (otherRules.has(other.intent.ruleId) || (job !== null && other.intent.sentBy?.job === job)) continue;
        const blocks = await blocking(other);
        if (blocks !== null) return `its answer may give the same person a second message: ${blocks}`;
      }
      return null;
    },
  };
}

/** Finds a rule by `notification.rule`, with the ids of the other rules of its notification. */
export function ruleNamed(title: string, workspace: string, configuration: Configuration) {
  const named = readRuleTitle(title);
  const found = named && findResource(configuration, 'notification', workspace, named.notification);
  const body = named && found?.body.rules[named.rule];
  if (!found || !body) return null;
  const { name: notification } = found.ref;
  const ids = Object.entries(found.body.rules).map(([name, each]) => ruleIdFrom(workspace, notification, name, each));
  const ruleId = ruleIdFrom(workspace, notification, named.rule, body);
  const otherRules = new Set(ids.filter((id) => id !== ruleId));
  return { ruleId, notificationId: notificationIdOf(found), otherRules };
}
