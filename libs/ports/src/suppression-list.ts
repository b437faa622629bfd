import type { ChannelName } from '@carillon/domain/channels';
import type { SuppressionSource } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';

/** Suppression of an address on one channel of a workspace, by one source. */
export type Suppression = {
  readonly workspace: string;
  readonly channel: ChannelName;
  /** In its canonical form; text that is no address of the channel as it is. */
  readonly address: string;
  readonly source: SuppressionSource;
  /** Provider code or words. */
  readonly detail: string;
  readonly deliveryId: string | null;
  /** Who put it there; left out where no person did. */
  readonly by?: string;
  readonly at: Instant;
};

/** What a list is narrowed to; what is left out is not asked. */
export type SuppressionFilter = {
  readonly workspace?: string;
  readonly channel?: ChannelName;
  /** In any form; where no channel is named, in the forms of every channel. */
  readonly address?: string;
  readonly source?: SuppressionSource;
};

/**
 * Addresses that get no messages, with one entry per source: removing one entry leaves the others. All functions accept
 * an address in any form. It is stored in canonical form; lookup and removal also cover the canonical forms of earlier
 * versions, so no spelling bypasses the list.
 */
export type SuppressionList = {
  /**
   * Adds an entry, or leaves the older one of its source; of `stop` the later `at` counts then, since a person may have written it again
   * and what they wrote before must not take it away. Durable when it resolves.
   */
  add(suppression: Suppression): Promise<void>;
  /**
   * Adds many as `add` does. Answers how many were not there before; after an answer of the store that was lost it may be
   * fewer than were added. Durable when it resolves; where it rejects, any part may be there, and doing it again is safe.
   */
  addAll(suppressions: readonly Suppression[]): Promise<number>;
  /**
   * Takes away what one source says, or what all of them say where none is named; with `notAfter` only what was not said later than
   * that. True where there was something.
   */
  remove(
    workspace: string,
    channel: ChannelName,
    address: string,
    source?: SuppressionSource,
    notAfter?: Instant,
  ): Promise<boolean>;
  /** The oldest entry of an address, which is why it gets nothing. */
  find(workspace: string, channel: ChannelName, address: string): Promise<Suppression | null>;
  /** All entries of an address, the oldest first. */
  sources(workspace: string, channel: ChannelName, address: string): Promise<readonly Suppression[]>;
  list(
    filter: SuppressionFilter,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly Suppression[]; readonly next: string | null }>;
};
