import { findResource, notificationIdOf, readRuleTitle, type Configuration } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import type { MissingLookup, MissingMessage, MissingSelection, CompareRun } from '@carillon/domain/runs';
import type { DeliveryId, EventId, JobId } from '@carillon/kernel';
import { forEachConcurrently, type RuleBook } from '@carillon/stages';
import { createOutputReader, type EventItem, type EventOutputPorts, type EventOutputs } from './event-outputs.ts';
import { askedPartsOf } from './questions.ts';
import { createSendingChecks, ruleNamed, type SendingCheckPorts } from './sending-checks.ts';

export type LookCheckPorts = EventOutputPorts & SendingCheckPorts & { readonly book: RuleBook };

/** Finds messages that a job would refuse because the person has or may get another message. */
export type LookChecks = {
  /** Returns those of some messages that a job sends, in their order. */
  sendable(messages: readonly MissingMessage[]): Promise<readonly MissingMessage[]>;
  /** Returns those of some lookups that a job asks a partner about, in their order. */
  askable(lookups: readonly MissingLookup[]): Promise<readonly MissingLookup[]>;
};

/** Events that are looked at concurrently. Each takes several requests to the stores, one after the other. */
const CONCURRENCY = 16;

type EventFacts = {
  /** Deliveries by the keyed hash of their person. */
  readonly byPerson: ReadonlyMap<string, readonly Delivery[]>;
  readonly outputsAt: (item: EventItem) => Promise<EventOutputs | null>;
};
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

  /** Returns a reader that evaluates an event once, although other events are evaluated meanwhile. */
  function keepOutputs(): typeof readOutputs {
    const known = new Map<string, ReturnType<typeof readOutputs>>();
    return (item) => {
      const key = `${item.position} ${item.rule} ${item.at}`;
      const outputs = known.get(key) ?? readOutputs(item);
      known.set(key, outputs);
      return outputs;
    };
  }

  async function isSendable({ row }: MissingMessage, { byPerson, outputsAt }: EventFacts): Promise<boolean> {
    const name = readRuleTitle(row.rule)?.notification ?? '';
    const notification = findResource(published, 'notification', workspace, name);
    if (!notification) return true;
    const why = await checks.whyNotSent({
      eventId: row.eventId,
      notificationId: notificationIdOf(notification),
      channel: row.channel,
      deliveries: async () => byPerson.get(row.person) ?? [],
      slots: async () => (await outputsAt(row))?.slots ?? new Set<DeliveryId>(),
    });
    return why === null;
  }

  /** Returns true if no recorded answer fits. Only an event with an answer is evaluated. */
  async function needsLookup(lookup: MissingLookup): Promise<boolean> {
    const { eventId, rule } = lookup;
    const ruleId = ruleNamed(rule, workspace, published)?.ruleId;
    const parts = ruleId === undefined ? [] : await askedPartsOf({ ruleId, eventId, askedBy: null }, ports);
    if (!parts.some(({ state }) => state === 'answered')) return true;
    const outputs = await readOutputs(lookup);
    return !outputs || outputs.triggers.some((trigger) => trigger.rule === rule);
  }

  return {
    async sendable(messages) {
      const sendable = new Set<MissingMessage>();
      const events = Map.groupBy(messages, ({ row }) => row.eventId);
      await forEachConcurrently(events, CONCURRENCY, async ([eventId, ofEvent]) => {
        const facts = { byPerson: await deliveriesByPerson(eventId), outputsAt: keepOutputs() };
        for (const message of ofEvent) if (await isSendable(message, facts)) sendable.add(message);
      });
      return messages.filter((message) => sendable.has(message));
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
