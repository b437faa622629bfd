import type { AccountReceipts, InboundWish, Report } from '@carillon/domain';
import type { CarillonError, Result } from '@carillon/kernel';

/** A request of a provider as it came. Nothing in it is proved. */
export type ReceiptCallback = {
  /** Key of the account whose address it came to: a proof that counts once, counts once for each account. */
  readonly account: string;
  /** The address as the provider has it: the deployment's `public_url` and the path as sent; null where there is none. */
  readonly url: string | null;
  /** The receipt token in the path, as text that nobody has checked; null where there is none. */
  readonly token: string | null;
  /** Names in lower case; of a header that came twice, nothing. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
};

export type ReceiptReading =
  /** Proved; may be empty, as that of a subscription that was confirmed. The error says what is wrong with the body. */
  | { readonly kind: 'proved'; readonly reports: Result<readonly Report[], CarillonError> }
  /** Proved: somebody wrote to a number of the account that he wants no more, or again. Null: he wrote something else. */
  | { readonly kind: 'inbound'; readonly wish: InboundWish | null }
  /** Nothing shows that it comes from the provider; which check failed is told nobody. */
  | { readonly kind: 'unproved' }
  /** Whether it is genuine cannot be found out now: a certificate cannot be fetched. The provider comes again. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/** Who reports, and by what it is known. */
export type ReceiptSender = AccountReceipts | { readonly kind: 'twilio' };

/**
 * Proves and reads what a provider reports. `secret` is what the account refers to: the signing key of Mailgun, the
 * credentials of Postmark, the auth token of Twilio; null where it refers to nothing or where that has no value, and then nothing is proved.
 */
export type ReceiptReaders = {
  read(callback: ReceiptCallback, sender: ReceiptSender, secret: string | null): Promise<ReceiptReading>;
};
