import type { AccountReceipts, Report } from '@carillon/domain';
import type { CarillonError, Result } from '@carillon/kernel';

/** A request of a provider as it came. Nothing in it is proved. */
export type ReceiptCallback = {
  /** Names in lower case; of a header that came twice, nothing. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
};

export type ReceiptReading =
  /** Proved; may be empty, as that of a subscription that was confirmed. The error says what is wrong with the body. */
  | { readonly kind: 'proved'; readonly reports: Result<readonly Report[], CarillonError> }
  /** Nothing shows that it comes from the provider; which check failed is told nobody. */
  | { readonly kind: 'unproved' }
  /** Whether it is genuine cannot be found out now: a certificate cannot be fetched. The provider comes again. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/**
 * Proves and reads what a provider reports. `secret` is what the account refers to: the signing key of Mailgun, the
 * credentials of Postmark; null where it refers to nothing or where that has no value, and then nothing is proved.
 */
export type ReceiptReaders = {
  read(callback: ReceiptCallback, receipts: AccountReceipts, secret: string | null): Promise<ReceiptReading>;
};
