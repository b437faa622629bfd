import type { Instant } from '@carillon/kernel';
import type { ReportedAttempt } from './receipt-token.ts';
import type { InboundWish, Report } from './report.ts';

/**
 * A report on the log: proved, and with the attempt that its token names. Appended to `carillon.receipts` before the
 * provider gets its answer, so it may be there twice under one id.
 */
export type Receipt = Omit<Report, 'eventId' | 'token'> & {
  /** Derived from source, account and the provider's own name of the report. */
  readonly id: string;
  /** The key of the account that the proof belongs to; null for mail that came back, which no account proves. */
  readonly account: string | null;
  /** Attempt that the report belongs to. Null if the report has no valid token; it is then parked for an operator. */
  readonly attempt: ReportedAttempt | null;
  readonly receivedAt: Instant;
  /** Set for a message from a person to a number of the account, instead of a report. It concerns no attempt. */
  readonly inbound: Pick<InboundWish, 'address' | 'wish'> | null;
};

/** A receipt as its delivery keeps it. */
export type AppliedReceipt = Pick<Receipt, 'id' | 'source' | 'verdict' | 'code' | 'detail' | 'at' | 'receivedAt'> & {
  /** Counts from 1 over the attempts of the delivery. */
  readonly attempt: number;
};

/** An unmatched receipt, as shown to people. */
export type ParkedReceipt = Pick<
  Receipt,
  'source' | 'account' | 'verdict' | 'suppress' | 'code' | 'detail' | 'receivedAt'
> & {
  /** The attempt that its token names, though it did not fit; null where none came with it. */
  readonly deliveryId: string | null;
  readonly attempt: number | null;
  /** Person who wrote to one of our numbers, and their wish. Null for a report. */
  readonly address: string | null;
  readonly wish: InboundWish['wish'] | null;
};

export const parkedReceipt = (receipt: Receipt): ParkedReceipt => ({
  source: receipt.source,
  account: receipt.account,
  verdict: receipt.verdict,
  suppress: receipt.suppress,
  code: receipt.code,
  detail: receipt.detail,
  receivedAt: receipt.receivedAt,
  deliveryId: receipt.attempt?.deliveryId ?? null,
  attempt: receipt.attempt?.attempt ?? null,
  address: receipt.inbound?.address ?? null,
  wish: receipt.inbound?.wish ?? null,
});
