import type { AccountBody } from '@carillon/domain/configuration';
import type { InboundWish, Report } from '@carillon/domain/receipts';
import type { CarillonError, Result } from '@carillon/kernel';

/** A request of a provider as it came. Nothing in it is proved. */
export type ReceiptCallback = {
  /** Key of the account at whose URL the report arrived. A proof that counts only once counts once per account. */
  readonly account: string;
  /** URL as the provider knows it: the deployment's `public_url` and the path as sent. Null without `public_url`. */
  readonly url: string | null;
  /** The receipt token from the path, unverified. Null if there is none. */
  readonly token: string | null;
  /** Names in lower case; of a header that came twice, nothing. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
};

export type ReceiptReading =
  /** Proved; may be empty, as that of a subscription that was confirmed. The error says what is wrong with the body. */
  | { readonly kind: 'proved'; readonly reports: Result<readonly Report[], CarillonError> }
  /**
   * Verified: a person wrote to a number of the account to stop messages, or to start them again. Null for any other
   * text.
   */
  | { readonly kind: 'inbound'; readonly wish: InboundWish | null }
  /** No proof that the provider sent it. The response does not say which check failed. */
  | { readonly kind: 'unproved' }
  /** Whether it is genuine cannot be found out now: a certificate cannot be fetched. The provider comes again. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/**
 * Proves and reads what providers report. `secret` is the value of the secret that the reporter of the account names
 * (`reporterOf` in the domain). Null if it names none or the secret has no value; a reader that needs one proves nothing then.
 */
export type ReceiptReaders = {
  read(callback: ReceiptCallback, account: AccountBody, secret: string | null): Promise<ReceiptReading>;
};
