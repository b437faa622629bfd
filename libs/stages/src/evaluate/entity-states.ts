import type { SourceEvent } from '@carillon/domain/events';
import {
  emptyMemory,
  entityOf,
  formatMemory,
  isApplied,
  nextDueOf,
  readMemory,
  startTurn,
  type Decision,
  type EntityMemory,
  type EntityTurn,
  type KeyedEvent,
} from '@carillon/domain/rules';
import { CarillonError, type DeriveId, type Instant } from '@carillon/kernel';
import type { FencedWrite, RuleState, RuleStateStore } from '@carillon/ports';
import { BatchDocuments } from '../batch-documents.ts';

export type EntityStates = {
  /** Starts the turn of an event with what is remembered of its entity. Null: this event has been applied already. */
  turn(event: KeyedEvent, watermark: Instant): EntityTurn | null;
  /** Takes what is remembered of the event's entity from now on. Events of one partition come in their order. */
  put(event: KeyedEvent, memory: EntityMemory): void;
  save(): Promise<FencedWrite>;
};

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
    turn(event, watermark) {
      const id = idOf(event);
      const stored = applied.get(id);
      if (stored && stored.logId !== event.position.logId) {
        throw new CarillonError(
          'wrong_log',
          `the state of an entity of ${event.stream} belongs to log ${stored.logId}, this is ${event.position.logId}; ` +
            'restore log and stores from one backup, or start with an empty data folder',
        );
      }
      const document = documents.get(id);
      const memory = document ? readMemory(document.data, document.offset) : emptyMemory(entityOf(event));
      return isApplied(memory, event) ? null : startTurn(memory, event, watermark);
    },
    put(event, memory) {
      const { logId, partition } = event.position;
      const { offset } = memory;
      documents.put({
        id: idOf(event),
        logId,
        partition,
        offset,
        nextDue: nextDueOf(memory),
        forgetAt: null,
        data: formatMemory(memory),
      });
    },
    save: () => documents.save(async (some) => ((await store.save(some)).includes('refused') ? 'refused' : 'done')),
  };
}

/** Returns what rules decided at an event, and later about a wait for it, as long as its entity's newest decisions hold it. */
export async function decisionsAbout(
  event: SourceEvent,
  store: Pick<RuleStateStore, 'load'>,
  derive: DeriveId,
): Promise<readonly Decision[]> {
  if (!isKeyed(event)) return [];
  const [document] = await store.load([stateIdOf(derive, event, null)]);
  if (!document) return [];
  return readMemory(document.data, document.offset).decisions.filter(
    ({ record, eventId, waited }) => record === event.position.offset || eventId === event.id || waited === event.id,
  );
}
