import type { Instant } from '@carillon/kernel';

/** Time of a statement, by the platform's clock, else the log's. At equal times the later record counts. */
export type Order = { readonly time: Instant; readonly offset: number };

export const isBefore = (a: Order, b: Order): boolean => a.time < b.time || (a.time === b.time && a.offset < b.offset);
