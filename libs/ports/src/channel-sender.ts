import type { Instant } from '@carillon/kernel';
import type { EmailMessage, Message } from '@carillon/domain/channels';
import type { AccountBody } from '@carillon/domain/configuration';
import type { ProviderResult } from '@carillon/domain/deliveries';
import type { FoundMessage } from '@carillon/domain/receipts';

/** A rendered and addressed message of the sender's channel. */
export type RenderedMessage = Message;
export type RenderedEmail = EmailMessage;

/** Data that accompanies a message for storage and tracing. The reader of the message sees none of it. */
export type SendContext = {
  readonly workspace: string;
  readonly deliveryId: string;
  readonly attemptToken: string;
  /** Token that a provider or mail server returns with a report (domain `writeReceiptToken`). */
  readonly receiptToken: string;
  /**
   * URL for the provider's HTTP reports about this message, for providers that take one per message. Null if reports go
   * elsewhere.
   */
  readonly reportTo: string | null;
  readonly traceparent: string | null;
  /** Time after which delivery is useless. Passed on to providers that support an expiry. */
  readonly notAfter: Instant;
  /** Aborts on shutdown. An adapter that has not begun to write the body then returns `transient`. */
  readonly signal: AbortSignal;
};

/**
 * Sends through one provider account. One call is one attempt and one request: an adapter never retries, and never
 * throws because of a provider's answer. It returns within its timeouts.
 */
export type ChannelSender = {
  /** Sends one message. Refuses a message of a channel that the account cannot carry. */
  send(message: RenderedMessage, context: SendContext): Promise<ProviderResult>;
  /** Connects and authenticates without sending. Returns each step with what it observed. */
  check(): Promise<readonly { readonly step: string; readonly ok: boolean; readonly detail: string }[]>;
  /**
   * Messages at the provider to the same recipient with the same sender and content, created at `since` or later. Null
   * if the provider cannot say at the moment. Absent for providers without such a query.
   */
  find?(message: RenderedMessage, since: Instant, signal: AbortSignal): Promise<readonly FoundMessage[] | null>;
  close(): Promise<void>;
};

/** Creates senders for the account kinds of an adapter. Secrets are resolved by the caller. */
export type SenderFactory = {
  readonly kind: AccountBody['kind'];
  /** True if the factory's senders can look up sent messages at the provider (`find`). */
  readonly canBeAsked?: true;
  /**
   * `workspace` owns the account, so its host is checked by the guard. Empty for the deployment's own accounts, whose
   * hosts the operator chose.
   */
  create(account: AccountBody, secrets: Readonly<Record<string, string>>, workspace: string): ChannelSender;
};
