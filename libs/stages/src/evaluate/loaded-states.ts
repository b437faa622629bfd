import type { Entity } from '@carillon/domain/rules';
import type { Instant } from '@carillon/kernel';
import type { EventLog, Ids, PartitionState, RuleStateStore } from '@carillon/ports';
import { DueQueue, MAX_PASSED } from './due-queue.ts';
import { EntityStates } from './entity-states.ts';
import { StateCache } from './state-cache.ts';

export type StatePorts = {
  readonly log: Pick<EventLog, 'logId'>;
  readonly ids: Pick<Ids, 'derive'>;
  readonly ruleStates: Pick<RuleStateStore, 'load' | 'save' | 'due' | 'earliestDue'>;
};

/** The states of the entities of a batch, and those of the partition that wait. */
export type LoadedStates = {
  readonly states: EntityStates;
  readonly queue: DueQueue;
  readonly cache: StateCache;
  /** Returns a bound before which nothing is due once the batch is saved. Null: nothing waits. */
  readonly earliestDue: () => Instant | null;
};

/**
 * Loads the states of these entities, and of those that may be due by `end`, the newest append time of the
 * batch. The store is asked for deadlines once an assignment, and then only if one may have passed.
 */
export async function loadStates(
  entities: readonly Entity[],
  end: Instant,
  { partition, cache: known }: PartitionState,
  { ruleStates, ids, log }: StatePorts,
): Promise<LoadedStates> {
  const cache = known instanceof StateCache ? known : new StateCache();
  const { logId } = log;
  const states = new EntityStates({ store: ruleStates, derive: ids.derive, runId: null, logId, partition }, cache);
  if (entities.length > 0) await states.load(entities);

  if (cache.earliestDue === undefined) cache.earliestDue = await ruleStates.earliestDue(partition);
  let stored = cache.earliestDue;
  const page = stored !== null && stored < end ? await ruleStates.due(partition, end, MAX_PASSED) : null;
  if (page) await states.loadDue(page);
  // The bound may be that of a wait that was cancelled since.
  if (page?.length === 0) stored = await ruleStates.earliestDue(partition);
  const queue = new DueQueue(page, end);
  let begun: Instant | null = null;
  states.onWait = (id, nextDue) => {
    begun = earlier(begun, nextDue);
    queue.add(id, nextDue);
  };
  const earliestDue = (): Instant | null => earlier(page && page.length > 0 ? queue.earliest() : stored, begun);
  return { states, queue, cache, earliestDue };
}

const earlier = (a: Instant | null, b: Instant | null): Instant | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
