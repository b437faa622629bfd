import { findResource, notificationIdOf, readRuleTitle, type Configuration } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import type { MissingLookup, MissingMessage, MissingSelection, CompareRun } from '@carillon/domain/runs';
import type { DeliveryId, EventId, JobId } from '@carillon/kernel';
import { forEachConcurrently, type RuleBook } from '@carillon/stages';
import { createOutputReader, type EventOutputPorts } from './event-outputs.ts';
import { askedPartsOf } from './questions.ts';
import { createSendingChecks, ruleNamed, type SendingCheckPorts } from './sending-checks.ts';

export type LookCheckPorts = EventOutputPorts & SendingCheckPorts & { readonly book: RuleBook };

/** Finds what a job would refuse because somebody has or may get another message. */
export type LookChecks = {
  /** Returns those of some messages that a job sends, in their order. */
  sendable(messages: readonly MissingMessage[]): Promise<readonly MissingMessage[]>;
  /** Returns those of some lookups that a job asks a partner about, in their order. */
  askable(lookups: readonly MissingLookup[]): Promise<readonly MissingLookup[]>;
};

/** Events whose deliveries are read at once. */
const CONCURRENCY = 16;
const NO_DELIVERIES: ReadonlyMap<string, readonly Delivery[]> = new Map();

export async function createLookChecks(
  { id, workspace }: CompareRun,
  { published, selection }: { readonly published: Configuration; readonly selection: MissingSelection },
  ports: LookCheckPorts,
): Promise<LookChecks> {
  const { book, ids, ledger } = ports;
  const checks = await createSendingChecks(
    {
      workspace,
      configuration: published,
      job: null,
      takesStopped: selection.slotStates.includes('stopped'),
      caughtUp: async () => undefined,
    },
    ports,
  );
  // A look uses slots and rules of the outputs only. They do not depend on the job.
  const sentBy = { person: '', job: '' as JobId, run: id };
  const job = { sentBy, createdAt: 0, expires: 0 };
  const readOutputs = createOutputReader({ job, configuration: published, book, askedBy: checks.askedBy }, ports);

  /** Returns the deliveries of an event by the keyed hash of their person, as rows have it. */
  async function deliveriesByPerson(eventId: EventId): Promise<ReadonlyMap<string, readonly Delivery[]>> {
    const deliveries = (await ledger.byEvent(eventId)).filter(({ slot }) => slot.workspace === workspace);
    return deliveries.length === 0
      ? NO_DELIVERIES
      : Map.groupBy(deliveries, ({ intent }) => ids.keyed('run person', workspace, intent.person));
  }

  async function isSendable(
    { row }: MissingMessage,
    byPerson: ReadonlyMap<string, readonly Delivery[]>,
  ): Promise<boolean> {
    const name = readRuleTitle(row.rule)?.notification ?? '';
    const notification = findResource(published, 'notification', workspace, name);
    if (!notification) return true;
    const why = await checks.whyNotSent({
      eventId: row.eventId,
      notification: name,
      notificationId: notificationIdOf(notification),
      channel: row.channel,
      deliveries: async () => byPerson.get(row.person) ?? [],
      slots: async () => (await readOutputs(row.position))?.messages ?? new Map<DeliveryId, never>(),
    });
    return why === null;
  }

  /** Returns true if no recorded answer fits. Only an event with an answer is evaluated. */
  async function needsLookup({ eventId, position, rule }: MissingLookup): Promise<boolean> {
    const ruleId = ruleNamed(rule, workspace, published)?.ruleId;
    const parts = ruleId === undefined ? [] : await askedPartsOf({ ruleId, eventId, askedBy: null }, ports);
    if (!parts.some(({ state }) => state === 'answered')) return true;
    const outputs = await readOutputs(position);
    return !outputs || outputs.triggers.some((trigger) => trigger.rule === rule);
  }

  return {
    async sendable(messages) {
      const deliveries = new Map<EventId, ReadonlyMap<string, readonly Delivery[]>>();
      await forEachConcurrently(new Set(messages.map(({ row }) => row.eventId)), CONCURRENCY, async (eventId) => {
        deliveries.set(eventId, await deliveriesByPerson(eventId));
      });
      const sendable: MissingMessage[] = [];
      for (const message of messages) {
        if (await isSendable(message, deliveries.get(message.row.eventId) ?? NO_DELIVERIES)) sendable.push(message);
      }
      return sendable;
    },
    async askable(lookups) {
      const askable = new Set<MissingLookup>();
      await forEachConcurrently(lookups, CONCURRENCY, async (lookup) => {
        if ((await checks.whyNotAsked(lookup)) === null && (await needsLookup(lookup))) askable.add(lookup);
      });
      return lookups.filter((lookup) => askable.has(lookup));
    },
  };
}
