import type { EntityMemory } from '@carillon/domain/rules';
import type { RuleState } from '@carillon/ports';
import type { Instant, LogId } from '@carillon/kernel';

/** State of an entity as a worker knows it. `logId` is null if there is none yet. */
export type KnownState = Pick<RuleState, 'id' | 'erasures'> & {
  readonly logId: LogId | null;
  readonly memory: EntityMemory;
};

/** Estimated bytes of the states of one partition in memory: 64 MiB for all eight partitions of a process. */
const MAX_BYTES = 8 * 1024 * 1024;
/** A state in memory takes about twice its text, and this much for the objects around it. */
const OVERHEAD_BYTES = 512;

/**
 * States of a partition that a worker has loaded since its assignment began. They end with the assignment. The cache
 * only holds what the store has.
 */
export class StateCache {
  readonly #entries = new Map<string, { readonly state: KnownState; readonly bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;
  /**
   * Earliest time at which a wait of the partition may be due. Null if nothing waits. Undefined before the store was
   * asked.
   */
  earliestDue: Instant | null | undefined;
  /** Number of the configuration whose workspaces the states belong to. -1 before the first. */
  configNumber = -1;

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get(id: string): KnownState | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    // The entry is inserted again as the newest, so that states in use are evicted last.
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry.state;
  }

  /** `textLength`: length of the state as text. */
  put(state: KnownState, textLength: number): void {
    this.#remove(state.id);
    const bytes = 2 * textLength + OVERHEAD_BYTES;
    this.#entries.set(state.id, { state, bytes });
    this.#bytes += bytes;
    for (const id of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(id);
    }
  }

  /** Drops the states of workspaces that the configuration of this number does not have. */
  keepWorkspaces(number: number, workspaces: ReadonlySet<string>): void {
    this.configNumber = number;
    for (const [id, { state }] of this.#entries) if (!workspaces.has(state.memory.entity.workspace)) this.#remove(id);
  }

  #remove(id: string): void {
    this.#bytes -= this.#entries.get(id)?.bytes ?? 0;
    this.#entries.delete(id);
  }
}
