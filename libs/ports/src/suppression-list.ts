import type { ChannelName } from '@carillon/domain/channels';
import type { SuppressionSource } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';

/** Suppression of an address on one channel of a workspace, by one source. */
export type Suppression = {
  readonly workspace: string;
  readonly channel: ChannelName;
  /** Canonical address, or the given text if it is no address of the channel. */
  readonly address: string;
  readonly source: SuppressionSource;
  /** Provider code or words. */
  readonly detail: string;
  readonly deliveryId: string | null;
  /** Person who added the entry. Absent if no person did. */
  readonly by?: string;
  readonly at: Instant;
};

/** Filter of a list. An absent field matches everything. */
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
   * Removes the entry of a source, or all entries of the address if the call has no source. With `notAfter`, keeps
   * entries that are later. Resolves to true if an entry was removed.
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
