import type { ChannelName, SuppressionSource } from '@carillon/domain';
import type { Instant } from '@carillon/kernel';

/** An address that gets nothing on a channel of a workspace, and why. */
export type Suppression = {
  readonly workspace: string;
  readonly channel: ChannelName;
  /** In its canonical form; text that is no address of the channel as it is. */
  readonly address: string;
  readonly source: SuppressionSource;
  /** Provider code or words. */
  readonly detail: string;
  readonly deliveryId: string | null;
  readonly at: Instant;
};

/**
 * Addresses that get nothing. Every function takes an address in any form: it is kept under the canonical one, and looked
 * for and removed under those of earlier versions too, so no other spelling of it gets past the list.
 */
export type SuppressionList = {
  /** Adds it, or leaves the older one. Durable when it resolves. */
  add(suppression: Suppression): Promise<void>;
  remove(workspace: string, channel: ChannelName, address: string): Promise<boolean>;
  find(workspace: string, channel: ChannelName, address: string): Promise<Suppression | null>;
  list(
    workspace: string | undefined,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly Suppression[]; readonly next: string | null }>;
};
