import type { SourceEvent } from '@carillon/domain/events';
import { CarillonError, parseJson, stringifyJson, type DeriveId, type Json } from '@carillon/kernel';
import type { FencedWrite, RuleState, RuleStateStore } from '@carillon/ports';
import { BatchDocuments } from '../batch-documents.ts';

/** What a rule with state saw of an event when it decided: it cannot be judged again from the event alone. */
export type Decision = { readonly eventId: string; readonly ruleId: string; readonly saw: Json };

/** Decisions that are kept of an entity, the newest last. */
const DECISIONS_KEPT = 16;

/** What all rules of a stream know of one entity: one document, with the position of the last event applied. */
type EntityState = { readonly rules: Readonly<Record<string, string>>; readonly decisions: readonly Decision[] };
const NOTHING: EntityState = { rules: {}, decisions: [] };

export type EntityStates = {
  /** What the rule knows of the event's entity, null at first; undefined: this event has been applied already. */
  before(event: KeyedEvent, ruleId: string): string | null | undefined;
  /** What it knows afterwards. Events of one partition come in their order. */
  after(event: KeyedEvent, ruleId: string, state: string, saw: Json): void;
  save(): Promise<FencedWrite>;
};

/** An event that names its entity. */
export type KeyedEvent = SourceEvent & { readonly key: string };
export const isKeyed = (event: SourceEvent): event is KeyedEvent => event.key !== null;

/** Why a rule with state judges no event of a stream without a key. */
export const NO_ENTITY =
  'this rule keeps state, and its stream has no key that says whose: the events stand in several partitions, and nothing ' +
  'would keep their order; make a stream with a key for it';

/**
 * Where the state of the event's entity stands: every run has its own. An event without a key has none: those of one stream
 * stand in several partitions, whose workers would write one document by positions that say nothing of each other.
 */
const stateIdOf = (derive: DeriveId, { stream, key }: KeyedEvent, runId: string | null): string =>
  derive('state', stream, key, runId ?? '');

/** Loads what is known of the entities of these events, at once. Those without a key are about none. */
export async function loadEntityStates(
  events: readonly SourceEvent[],
  store: Pick<RuleStateStore, 'load' | 'save'>,
  derive: DeriveId,
  runId: string | null,
): Promise<EntityStates> {
  const idOf = (event: KeyedEvent): string => stateIdOf(derive, event, runId);
  const documents = new BatchDocuments<RuleState>(({ id }) => id);
  await documents.load(events.filter(isKeyed).map(idOf), (ids) => store.load(ids));
  const applied = new Map([...documents.held()].map((document) => [document.id, document]));

  return {
    before(event, ruleId) {
      const id = idOf(event);
      const stored = applied.get(id);
      if (stored && stored.logId !== event.position.logId) {
        throw new CarillonError(
          'wrong_log',
          `the state of an entity of ${event.stream} belongs to log ${stored.logId}, this is ${event.position.logId}; ` +
            'restore log and stores from one backup, or start with an empty data folder',
        );
      }
      if (stored && stored.offset >= event.position.offset) return undefined;
      return dataOf(documents.get(id)).rules[ruleId] ?? null;
    },
    after(event, ruleId, state, saw) {
      const id = idOf(event);
      const { rules, decisions } = dataOf(documents.get(id));
      const { logId, partition, offset } = event.position;
      const data: EntityState = {
        rules: { ...rules, [ruleId]: state },
        decisions: [...decisions, { eventId: event.id, ruleId, saw }].slice(-DECISIONS_KEPT),
      };
      documents.put({ id, logId, partition, offset, nextDue: null, data: stringifyJson(data) });
    },
    save: () => documents.save(async (some) => ((await store.save(some)).includes('refused') ? 'refused' : 'done')),
  };
}

/** Our own writing, from a store of ours. */
const dataOf = (document: RuleState | undefined): EntityState =>
  document === undefined ? NOTHING : (parseJson(document.data) as unknown as EntityState);

/** What rules saw of an event whose entity's last decisions still hold it. */
export async function decisionsAbout(
  event: SourceEvent,
  store: Pick<RuleStateStore, 'load'>,
  derive: DeriveId,
): Promise<readonly Decision[]> {
  if (!isKeyed(event)) return [];
  const [document] = await store.load([stateIdOf(derive, event, null)]);
  return dataOf(document).decisions.filter(({ eventId }) => eventId === event.id);
}
