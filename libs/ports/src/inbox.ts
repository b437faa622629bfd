import type { ChannelName, Message } from '@carillon/domain/channels';
import type { Instant } from '@carillon/kernel';

/** A message that the sandbox kept instead of sending. */
export type InboxMessage = {
  readonly id: string;
  readonly workspace: string;
  readonly deliveryId: string;
  readonly message: Message;
  readonly at: Instant;
};

/** Filter of inbox messages. A message must match all fields. */
export type InboxFilter = {
  readonly workspace?: string;
  /** Matches messages of any of these channels. An empty list matches nothing, here and below. */
  readonly channels?: readonly ChannelName[];
  /** The address begins with one of these, letter by letter. */
  readonly to?: readonly string[];
  /** Kept at or after. */
  readonly since?: Instant;
  /** Kept before. */
  readonly before?: Instant;
};

export type Inbox = {
  /** Keeps it; the same id twice is kept once. Durable when it resolves. */
  put(message: InboxMessage): Promise<void>;
  get(id: string): Promise<InboxMessage | null>;
  /** Newest first. */
  list(
    filter: InboxFilter,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly InboxMessage[]; readonly next: string | null }>;
};
