import type { Instant } from '@carillon/kernel';
import type { EmailMessage, Message } from '@carillon/domain/channels';
import type { AccountBody } from '@carillon/domain/configuration';
import type { ProviderResult } from '@carillon/domain/deliveries';
import type { FoundMessage } from '@carillon/domain/receipts';

/** What a sender gets: a message of its channel, rendered and addressed. */
export type RenderedMessage = Message;
export type RenderedEmail = EmailMessage;

/** What goes with a message for whoever stores or traces it; none of it is shown to the reader. */
export type SendContext = {
  readonly workspace: string;
  readonly deliveryId: string;
  readonly attemptToken: string;
  /** Goes out where the provider or a mail server brings it back with a report (domain `writeReceiptToken`). */
  readonly receiptToken: string;
  /** Where the provider may tell by HTTP what becomes of the message, for one that is told with each; null: nowhere. */
  readonly reportTo: string | null;
  readonly traceparent: string | null;
  /** What has not reached its recipient by then is of no use any more: a provider that can give up is told so. */
  readonly notAfter: Instant;
  /** Ends on shutdown: an adapter that has not begun the body gives up and answers `transient`. */
  readonly signal: AbortSignal;
};

/**
 * Sends over one provider account. One call is one attempt and one request: an adapter never repeats by itself, and
 * never throws for what a provider did. It answers within its time-outs.
 */
export type ChannelSender = {
  /** A message of a channel that the account cannot carry is refused, and nothing goes out. */
  send(message: RenderedMessage, context: SendContext): Promise<ProviderResult>;
  /** Connects and authenticates without sending; each step with what was seen. */
  check(): Promise<readonly { readonly step: string; readonly ok: boolean; readonly detail: string }[]>;
  /**
   * What the provider has to the same recipient, like this message in sender and content, and made at `since` or later. Null: it
   * cannot be found out now. Left out where the provider cannot be asked.
   */
  find?(message: RenderedMessage, since: Instant, signal: AbortSignal): Promise<readonly FoundMessage[] | null>;
  close(): Promise<void>;
};

/** Makes senders for accounts of the kinds that an adapter knows. Secrets are resolved before. */
export type SenderFactory = {
  readonly kind: AccountBody['kind'];
  /** Whether its senders have `find`: of a channel without any such kind nobody is asked. */
  readonly canBeAsked?: true;
  /** `workspace`: whose account it is, so that its host is guarded; empty: the deployment's own, which the operator chose. */
  create(account: AccountBody, secrets: Readonly<Record<string, string>>, workspace: string): ChannelSender;
};
