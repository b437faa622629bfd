import type { Message } from '@carillon/domain';
import type { Instant } from '@carillon/kernel';

/** A message that the sandbox kept instead of sending. */
export type InboxMessage = {
  readonly id: string;
  readonly workspace: string;
  readonly deliveryId: string;
  readonly message: Message;
  readonly at: Instant;
};

export type Inbox = {
  /** Keeps it; the same id twice is kept once. Durable when it resolves. */
  put(message: InboxMessage): Promise<void>;
  get(id: string): Promise<InboxMessage | null>;
  /** Newest first. */
  list(
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly InboxMessage[]; readonly next: string | null }>;
};
