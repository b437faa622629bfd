import type { Instant } from '@carillon/kernel';
import { PROVIDERS } from '@carillon/shapes/providers';
import type { SuppressionSource } from '../deliveries/suppression-source.ts';

/** Sources of reports about messages that a provider accepted (docs/internals/evidence.md). `dsn` and `arf` come by mail. */
export type ReceiptSource = (typeof PROVIDERS)[number]['receiptSources'][number] | 'dsn' | 'arf';
export const RECEIPT_SOURCES: readonly [ReceiptSource, ...ReceiptSource[]] = [
  'dsn',
  'arf',
  ...PROVIDERS.flatMap(({ receiptSources }): readonly ReceiptSource[] => receiptSources),
];

/**
 * Verdict of a report. A `note` changes no state: the message was delayed, relayed or opened, or is still on its way.
 */
export type ReportVerdict = 'delivered' | 'bounced' | 'complained' | 'note';

/** Reasons for which a report suppresses an address. */
export type ReportedSuppression = Extract<SuppressionSource, 'hard_bounce' | 'complaint' | 'stop'>;

/**
 * One report of a provider about one message. Any verdict proves that the attempt of its token was accepted, because
 * providers only report on accepted messages.
 */
export type Report = {
  readonly source: ReceiptSource;
  /** The provider's own name of this report. A report that comes again has the same. */
  readonly eventId: string;
  /** The receipt token in the report, unverified. Null if it has none. */
  readonly token: string | null;
  readonly verdict: ReportVerdict;
  /** Set if the report says that the address must not be used again, not only that this message failed. */
  readonly suppress: ReportedSuppression | null;
  /** The operator should look at it: a problem of the account or of the content, not of this address. */
  readonly alert: boolean;
  /** The provider's code, such as `5.1.1` or `30005`; empty where it gave none. */
  readonly code: string;
  /** The provider's own words, without control characters, at most 500 characters. They may quote the address. */
  readonly detail: string;
  /** When it happened, by the provider's clock; null where it did not say. */
  readonly at: Instant | null;
};

/** A person's message to one of our numbers that stops or restarts messages from it. */
export type InboundWish = {
  readonly source: ReceiptSource;
  /** The provider's own name of the message. */
  readonly eventId: string;
  /** Who wrote, in E.164. */
  readonly address: string;
  readonly wish: 'stop' | 'start';
};

const MAX_DETAIL = 500;
/** Wider than a line's: a provider may break lines by characters of Unicode too. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** A provider's words in one line that a log, a page or a terminal can show. */
export const providerWords = (text: string): string =>
  text.toWellFormed().replace(BREAKS, ' ').trim().slice(0, MAX_DETAIL).toWellFormed();
