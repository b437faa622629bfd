import type { Instant } from '@carillon/kernel';
import type { Order } from './order.ts';

/** State of one user. It is kept after the user left, so that late older messages have no effect. */
export type CohortMember = {
  readonly user: string;
  readonly inside: boolean;
  /** When they entered; null for who is outside. */
  readonly since: Instant | null;
  /** Order of the newest message that spoke of them, unless the cohort has them on a roll that was named again. */
  readonly newest: Order;
  /** Offset of the record that this was written for: the fence against a worker that lost its partition. */
  readonly offset: number;
};
