import type { Entity } from '@carillon/domain/rules';
import { CarillonError, type Instant } from '@carillon/kernel';
import type { EventLog, Ids, PartitionState, RuleStateStore } from '@carillon/ports';
import { DueQueue, MAX_PASSED } from './due-queue.ts';
import { EntityStates } from './entity-states.ts';
import { StateCache } from './state-cache.ts';

export type StatePorts = {
  readonly log: Pick<EventLog, 'logId' | 'bounds'>;
  readonly ids: Pick<Ids, 'derive'>;
  readonly ruleStates: Pick<RuleStateStore, 'load' | 'save' | 'due' | 'earliestDue'>;
  /** Run that the states belong to. Defaults to the live run. */
  readonly runId?: string;
};

/** The states of the entities of a batch, and of the waiting entities of its partition. */
export type LoadedStates = {
  readonly states: EntityStates;
  readonly queue: DueQueue;
  readonly cache: StateCache;
  /** Returns a time before which nothing is due once the batch is saved. Null if nothing waits. */
  readonly earliestDue: () => Instant | null;
};

/** `end`: newest append time of a batch. `last`: offset of its last record. */
export type BatchEnd = { readonly end: Instant; readonly last: number };

/**
 * Rejects if a state is newer than the end of the log, because the next events would be skipped as applied. After a
 * crash states may be ahead of the position, but never of the log.
 */
async function refuseShorterLog(newest: number, partition: number, log: Pick<EventLog, 'bounds'>): Promise<void> {
  const { end } = await log.bounds('carillon.events', partition);
  if (newest < end) return;
  throw new CarillonError(
    'wrong_log',
    `the state of an entity is of record ${newest} of carillon.events/${partition}, but the log ends at ${end}: was it restored? ` +
      'restore log and stores from one backup, or start with an empty data folder',
  );
}

/**
 * Loads the states of these entities, and of entities that may be due by the end of the batch. Asks the store for
 * deadlines once per assignment, and again only if a deadline may have passed.
 */
export async function loadStates(
  entities: readonly Entity[],
  { end, last }: BatchEnd,
  { partition, cache: known }: PartitionState,
  { ruleStates, ids, log, runId }: StatePorts,
): Promise<LoadedStates> {
  const cache = known instanceof StateCache ? known : new StateCache();
  const { logId } = log;
  const states = new EntityStates(
    { store: ruleStates, derive: ids.derive, runId: runId ?? null, logId, partition },
    cache,
  );
  let begun: Instant | null = null;
  let queue: DueQueue | null = null;
  states.onWait = (id, nextDue) => {
    begun = earlier(begun, nextDue);
    queue?.add(id, nextDue);
  };
  if (entities.length > 0) await states.load(entities);

  if (cache.earliestDue === undefined) cache.earliestDue = await ruleStates.earliestDue(partition);
  let stored = earlier(cache.earliestDue, begun);
  begun = null;
  const page = stored !== null && stored < end ? await ruleStates.due(partition, end, MAX_PASSED) : null;
  if (page) await states.loadDue(page);
  // The earliest deadline may belong to a wait that was cancelled since.
  if (page?.length === 0) stored = await ruleStates.earliestDue(partition);
  if (states.newestOffset > last) await refuseShorterLog(states.newestOffset, partition, log);
  const dueQueue = new DueQueue(page, end);
  queue = dueQueue;
  const earliestDue = (): Instant | null => earlier(page && page.length > 0 ? dueQueue.earliest() : stored, begun);
  return { states, queue: dueQueue, cache, earliestDue };
}

const earlier = (a: Instant | null, b: Instant | null): Instant | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
