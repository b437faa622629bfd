import type { Instant, JsonObject } from '@carillon/kernel';
import type { Actor } from '../people/actor.ts';
import type { ResourceRef } from './resources.ts';

/**
 * A change of one resource in preparation. It has no effect and ends when it is published or discarded. Each resource
 * has at most one draft, which everyone with the permission edits.
 */
export type Draft = {
  readonly ref: ResourceRef;
  /** The body that the resource is to have, with mistakes perhaps; null: it is to be taken away. */
  readonly body: JsonObject | null;
  /**
   * Number of the resource that the author had seen; null: there was none. `BASE_GONE`: of a configuration that a restore
   * took back.
   */
  readonly basedOn: number | null;
  /** Names this saving of it, and no other one ever. */
  readonly revision: string;
  /** Revision of its first saving. Whoever saved a later one had seen all before it; a draft that is begun anew has another. */
  readonly begun: string;
  /** The test environment that it was promoted from; left out: none. */
  readonly promotedFrom?: string;
  /** Who saved it last. */
  readonly by: Actor;
  /** When it was saved last. */
  readonly at: Instant;
};

/** No resource has this number, so a draft that is based on it waits until somebody chose. */
export const BASE_GONE = -1;
