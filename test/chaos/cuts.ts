import type { LedgerSend } from '@carillon/testing';
import type { BookedCall } from './partner.ts';

/**
 * A time in which calls may have been cut off, or what came of them kept from being written down: from the signal to the
 * end of the process, from the beginning of an outage to its end.
 */
export type Cut = { readonly from: number; readonly until: number };

/** What the partner's book says, and what excuses a call that the product knows nothing of. */
export type PartnerSide = {
  readonly calls: readonly BookedCall[];
  readonly cuts: readonly Cut[];
  /** When answers that were in custody could not come on the log: what they took then tells nothing of the product. */
  readonly outages?: readonly Cut[];
};

/** A cut of those who send. */
export type Kill = Cut & {
  /** A delivery of which no call can have been under way then: it has no excuse by this one. */
  readonly spares?: string;
};

/** The mail server's own book of sends, and when processes that send were killed or held, or could not write down what came of it. */
export type SendsAtKills = { readonly sends: readonly LedgerSend[]; readonly kills: readonly Kill[] };
