import type { Instant, JsonObject } from '@carillon/kernel';
import type { Actor } from '../people/actor.ts';
import type { ResourceRef } from './resources.ts';

/**
 * An unpublished change of one resource. It has no effect, and ends when it is published or discarded. Each resource
 * has at most one draft, which everyone with the permission edits.
 */
export type Draft = {
  readonly ref: ResourceRef;
  /** Body that the resource should get, possibly with mistakes. Null if it should be removed. */
  readonly body: JsonObject | null;
  /**
   * Number of the resource that the author had seen; null: there was none. `BASE_GONE`: of a configuration that a restore
   * took back.
   */
  readonly basedOn: number | null;
  /** Names this saving of it, and no other one ever. */
  readonly revision: string;
  /**
   * Revision of the draft's first save. It is equal for all later saves, and differs for a draft that is begun anew.
   */
  readonly begun: string;
  /** The test environment that it was promoted from; left out: none. */
  readonly promotedFrom?: string;
  /** Who saved it last. */
  readonly by: Actor;
  /** When it was saved last. */
  readonly at: Instant;
};

/** No resource has this number, so a draft based on it stays in conflict until a person decides. */
export const BASE_GONE = -1;
