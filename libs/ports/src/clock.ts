import type { Instant } from '@carillon/kernel';

/** Wall clock. Decisions take its value as an argument; only composition roots and adapters call it. */
export type Clock = { readonly now: () => Instant };
