import type { Instant } from '@carillon/kernel';

/** When something was said: by the platform's clock, else by the log's; at one time the later record counts. */
export type Order = { readonly time: Instant; readonly offset: number };

export const isBefore = (a: Order, b: Order): boolean => a.time < b.time || (a.time === b.time && a.offset < b.offset);
