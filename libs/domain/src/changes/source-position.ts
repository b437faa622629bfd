import type { Instant } from '@carillon/kernel';

/** The `lsn` of a position whose slot is not made yet. */
export const NOWHERE = '0/0';

/** How far a PostgreSQL source is on the log. */
export type SourcePosition = {
  readonly kind: 'postgres';
  /** Identifier of the database cluster. */
  readonly systemId: string;
  readonly timeline: number;
  readonly slot: string;
  readonly publication: string;
  /** Object id of the publication. A new publication of the same name has another. 0 until it is made. */
  readonly publicationOid: number;
  /** End of the last transaction that is on the log whole. Written as `0/1948580`. `0/0` until the slot is made. */
  readonly lsn: string;
  /** The next transaction, as far as it is on the log. Null if nothing of it is. */
  readonly partial: { readonly commitLsn: string; readonly changes: number } | null;
  /** Commit time of the newest change on the log, or when the position was made. Everything up to then was read. */
  readonly at: Instant;
};
