import type { Instant } from '@carillon/kernel';
import type { DueRuleState } from '@carillon/ports';

/** Maximum entities whose deadlines one commit passes. */
export const MAX_PASSED = 1_000;

type Entry = { readonly id: string; readonly nextDue: Instant };

/**
 * Waiting entities of one batch, earliest deadline first: the first page of the store, and entities that begin to wait
 * in the batch. An entity may have several entries. Only its newest deadline is valid, so the caller reads the entity's
 * state.
 */
export class DueQueue {
  readonly #entries: Entry[];
  readonly #end: Instant;
  /** Waits of the store with a deadline from here on may be missing in the page. */
  readonly #horizon: Instant;

  /**
   * `page` has at most `MAX_PASSED` states that are due before `end`. Null if the store was not asked, because none is
   * due.
   */
  constructor(page: readonly DueRuleState[] | null, end: Instant) {
    this.#entries = [...(page ?? [])];
    this.#end = end;
    this.#horizon = page && page.length >= MAX_PASSED ? (page.at(-1)?.nextDue ?? end) : Number.POSITIVE_INFINITY;
  }

  /** Adds a waiting entity. Ignores deadlines at or after the end of the batch, which a later batch passes. */
  add(id: string, nextDue: Instant): void {
    if (nextDue >= this.#end) return;
    let at = this.#entries.length;
    while (at > 0 && (this.#entries[at - 1]?.nextDue ?? 0) > nextDue) at -= 1;
    this.#entries.splice(at, 0, { id, nextDue });
  }

  /** Returns true if an entity other than `except` is due. */
  hasDue(watermark: Instant, except?: string): boolean {
    const first = this.#entries.find(({ id }) => id !== except);
    return first !== undefined && first.nextDue < watermark;
  }

  /** Removes the first entity other than `except`. */
  take(except?: string): string | undefined {
    const at = this.#entries.findIndex(({ id }) => id !== except);
    return at === -1 ? undefined : this.#entries.splice(at, 1)[0]?.id;
  }

  /** Returns true if the store may have more entities that are due, which are not in the queue. */
  mayHaveMore(watermark: Instant): boolean {
    return this.#horizon < watermark;
  }

  /** Returns a time before which no entity of the queue or of the store's next pages is due. */
  earliest(): Instant {
    return Math.min(this.#entries[0]?.nextDue ?? this.#end, this.#horizon, this.#end);
  }
}
