import { partitionOf, type SourceEvent } from '@carillon/domain/events';
import {
  emptyMemory,
  entityOf,
  formatMemory,
  movedMemory,
  nextDueOf,
  readMemory,
  startTurn,
  type Decision,
  type Entity,
  type EntityMemory,
  type EntityTurn,
  type KeyedEvent,
  waitsOf,
} from '@carillon/domain/rules';
import { CarillonError, type DeriveId, type Instant, type LogId } from '@carillon/kernel';
import type { DueRuleState, EventLog, FencedWrite, Ids, RuleState, RuleStateStore } from '@carillon/ports';
import { StateCache, type KnownState } from './state-cache.ts';

export const isKeyed = (event: SourceEvent): event is KeyedEvent => event.key !== null;

/** Why a rule with state cannot evaluate an event of a stream without a key. */
export const NO_ENTITY =
  'this rule keeps state, but its stream has no key: the events are in several partitions, and nothing ' +
  'would keep their order; make a stream with a key for it';

/**
 * Returns the id of the state of an event's entity. Each run has separate states. An event without a key has no state:
 * such events are spread over several partitions, whose workers would overwrite one document by unrelated positions.
 */
const stateIdOf = (
  derive: DeriveId,
  { stream, key }: Pick<KeyedEvent, 'stream' | 'key'>,
  runId: string | null,
): string => derive('state', stream, key, runId ?? '');

/** Maximum states per read or write, so that other writes do not wait long. */
const BATCH_SIZE = 500;

export type EntityStatePorts = {
  readonly store: Pick<RuleStateStore, 'load' | 'save'>;
  readonly derive: DeriveId;
  /** Run of the states. Null for the live run. */
  readonly runId: string | null;
  readonly logId: LogId;
  readonly partition: number;
};

/**
 * The states of the entities of a batch. They are loaded before the records that need them, changed in memory, and
 * written by `save` after the outputs (promise 3).
 */
export class EntityStates {
  readonly #ports: EntityStatePorts;
  readonly #cache: StateCache;
  readonly #held = new Map<string, KnownState>();
  readonly #changed = new Map<string, EntityMemory>();
  /** Called with each entity that waits after a change or after loading. */
  onWait: (id: string, nextDue: Instant) => void = () => undefined;
  /** Number of events that had been applied before. */
  repeated = 0;
  /** Highest offset among the loaded states. -1 without states. */
  newestOffset = -1;

  constructor(ports: EntityStatePorts, cache: StateCache = new StateCache()) {
    this.#ports = ports;
    this.#cache = cache;
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /** Loads the states of these entities. */
  async load(entities: readonly Entity[]): Promise<void> {
    const { derive, runId } = this.#ports;
    const missing = new Map<string, Entity>();
    for (const entity of entities) {
      const id = stateIdOf(derive, entity, runId);
      if (!this.#hold(id)) missing.set(id, entity);
    }
    await this.#loadIds([...missing.keys()], missing);
    for (const [id, entity] of missing) {
      const loaded = this.#held.get(id);
      // Remembers that the entity has no state, so that the store is not asked again.
      if (!loaded) this.#know({ id, logId: null, memory: emptyMemory(entity) }, 0);
      const nextDue = loaded ? nextDueOf(loaded.memory) : null;
      // Another worker may have saved this wait. This worker then finds the event of the wait applied already.
      if (nextDue !== null) this.onWait(id, nextDue);
    }
  }

  /** Loads the states of entities that wait. */
  async loadDue(due: readonly DueRuleState[]): Promise<void> {
    await this.#loadIds(due.flatMap(({ id }) => (this.#hold(id) ? [] : [id])));
    for (const { id, offset } of due) {
      const known = this.#held.get(id);
      if (!known || known.memory.offset >= offset) continue;
      throw this.#overtaken();
    }
  }

  /** Returns the id of the state of an entity. */
  idOf(entity: Entity): string {
    const { derive, runId } = this.#ports;
    return stateIdOf(derive, entity, runId);
  }

  /** Combines an event with the memory of its entity. Returns null if the event was applied already. */
  turn(event: KeyedEvent, watermark: Instant): EntityTurn | null {
    const { derive, runId } = this.#ports;
    const memory = this.memoryOf(stateIdOf(derive, event, runId)) ?? emptyMemory(entityOf(event));
    // All due waits of the store ended before this event. A wait that is still due here was ended by another worker.
    if ((nextDueOf(memory) ?? watermark) < watermark) throw this.#overtaken();
    const turn = startTurn(memory, event, watermark);
    if (turn === null) this.repeated += 1;
    return turn;
  }

  /** Sets the memory of the event's entity. Events of one partition must come in their order. */
  put(event: KeyedEvent, memory: EntityMemory): void {
    const { derive, runId } = this.#ports;
    this.putMemory(stateIdOf(derive, event, runId), memory);
  }

  memoryOf(id: string): EntityMemory | undefined {
    const known = this.#held.get(id);
    const { logId } = this.#ports;
    if (known && known.logId !== null && known.logId !== logId) {
      throw new CarillonError(
        'wrong_log',
        `the state of an entity of ${known.memory.entity.stream} belongs to log ${known.logId}, this is ${logId}; ` +
          'restore log and stores from one backup, or start with an empty data folder',
      );
    }
    return known?.memory;
  }

  putMemory(id: string, memory: EntityMemory): void {
    this.#held.set(id, { id, logId: this.#ports.logId, memory, ...this.#erasuresOf(id) });
    this.#changed.set(id, memory);
    const nextDue = nextDueOf(memory);
    if (nextDue !== null) this.onWait(id, nextDue);
  }

  /** Writes the changed states. Returns `refused` if another worker has saved a later position. */
  async save(): Promise<FencedWrite> {
    const { store, logId, partition } = this.#ports;
    for (const some of chunksOf([...this.#changed])) {
      const states = some.map(([id, memory]) => storedState(memory, { id, logId, partition, ...this.#erasuresOf(id) }));
      if ((await store.save(states)).includes('refused')) return 'refused';
      for (const [at, [id, memory]] of some.entries()) {
        this.#cache.put({ id, logId, memory, ...this.#erasuresOf(id) }, states[at]?.data.length ?? 0);
      }
    }
    return 'done';
  }

  /** Returns the error after which this worker loads the states again from the store. */
  #overtaken(): CarillonError {
    return new CarillonError('wrong_state', `another worker saved newer states of partition ${this.#ports.partition}`);
  }

  #erasuresOf(id: string): Pick<RuleState, 'erasures'> {
    const erasures = this.#held.get(id)?.erasures;
    return erasures === undefined ? {} : { erasures };
  }

  /** Returns true if the state is known already. */
  #hold(id: string): boolean {
    if (this.#held.has(id)) return true;
    const known = this.#cache.get(id);
    if (known) this.#held.set(id, known);
    return known !== undefined;
  }

  /** Loads states by id. `entities` has the entities of the ids, as far as the caller knows them. */
  async #loadIds(ids: readonly string[], entities: ReadonlyMap<string, Entity> = new Map()): Promise<void> {
    for (const some of chunksOf(ids)) {
      for (const { id, logId, offset, data, erasures } of await this.#ports.store.load(some)) {
        const memory = readMemory(data, offset, entities.get(id));
        this.#know({ id, logId, memory, ...(erasures !== undefined && { erasures }) }, data.length);
      }
    }
  }

  #know(state: KnownState, textLength: number): void {
    if (state.logId === this.#ports.logId) this.newestOffset = Math.max(this.newestOffset, state.memory.offset);
    this.#held.set(state.id, state);
    this.#cache.put(state, textLength);
  }
}

/** Returns a memory as a store has it. */
const storedState = (
  memory: EntityMemory,
  where: Pick<RuleState, 'id' | 'logId' | 'partition' | 'erasures'>,
): RuleState => ({
  ...where,
  offset: memory.offset,
  nextDue: nextDueOf(memory),
  forgetAt: memory.forgetAt,
  waits: waitsOf(memory),
  data: formatMemory(memory),
});

/**
 * Returns a memory of another deployment as a state of this deployment: in the partition of its entity's events, and
 * older than all records.
 */
export function movedState(
  memory: EntityMemory,
  shift: number,
  { ids, log }: { readonly ids: Pick<Ids, 'derive' | 'keyed'>; readonly log: Pick<EventLog, 'logId' | 'partitions'> },
): RuleState {
  const { stream, key } = memory.entity;
  const partition = partitionOf(ids.keyed('events', stream, key), log.partitions('carillon.events'));
  const id = stateIdOf(ids.derive, memory.entity, null);
  return storedState(movedMemory(memory, shift), { id, logId: log.logId, partition });
}

const chunksOf = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / BATCH_SIZE) }, (_, at) =>
    items.slice(at * BATCH_SIZE, (at + 1) * BATCH_SIZE),
  );

/** Loads the memory of an entity. Returns null if there is none, or if the stored memory belongs to another log. */
export async function loadMemory(entity: Entity, { ruleStates, ids, log }: MemoryPorts): Promise<EntityMemory | null> {
  const [state] = await ruleStates.load([stateIdOf(ids.derive, entity, null)]);
  return state?.logId === log.logId ? readMemory(state.data, state.offset, entity) : null;
}

export type MemoryPorts = {
  readonly ruleStates: Pick<RuleStateStore, 'load'>;
  readonly ids: Pick<Ids, 'derive'>;
  readonly log: Pick<EventLog, 'logId'>;
};

/**
 * Returns the decisions of rules about an event, at the event itself or later at its deadline. Only the newest
 * decisions of an entity are stored.
 */
export const decisionsAbout = (
  { decisions }: EntityMemory,
  { id, position }: Pick<SourceEvent, 'id' | 'position'>,
): readonly Decision[] =>
  decisions.filter(({ record, eventId, waited }) => record === position.offset || eventId === id || waited === id);
