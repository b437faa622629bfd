import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import type { Report, ReportVerdict } from '@carillon/domain/receipts';
import type { Received } from '@carillon/testing/memory';

/** One report, and over which account it comes. */
export type Said = {
  readonly report: Report;
  readonly over: string;
  readonly call: Received;
  /** It comes over an account that the message did not go over, or brings no token that is ours. */
  readonly isForeign: boolean;
};

/** Where a report leads. A note says only that the message was taken. */
export const STATE_OF: Readonly<Record<ReportVerdict, DeliveryState>> = {
  note: 'SENT',
  delivered: 'DELIVERED',
  bounced: 'BOUNCED',
  complained: 'COMPLAINED',
};
const UPWARDS: readonly DeliveryState[] = ['SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED'];
/** How far up a delivery is; 0: as far as we know the provider did not take it. */
export const rankOf = ({ state }: Pick<Delivery, 'state'>): number => UPWARDS.indexOf(state) + 1;
