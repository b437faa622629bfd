import { CarillonError } from '@carillon/kernel';

const MIB = 1024 * 1024;

/** How long the write-ahead log of the data file may be, in bytes. */
export type WalBounds = {
  /** Bytes missing in the data file from which on the log is copied into it, concurrently with the writer. */
  readonly copyFrom: number;
  /** Log length from which on writes wait for a running copy, so that a slow disk slows down the writers. */
  readonly waitFrom: number;
  /** No transaction begins at a log of this length: writes are refused until it can begin anew. */
  readonly most: number;
};

/** Returns the log length from which new work is refused. The rest is reserved to record the end of running work. */
export const intakeUntil = ({ most }: WalBounds): number => (most / 4) * 3;

/** A start after a kill reads the log whole: a gigabyte takes it some seconds. */
export const WAL_BOUNDS: WalBounds = { copyFrom: 64 * MIB, waitFrom: 128 * MIB, most: 4096 * MIB };

/** What a commit copies itself when the rest is done: more would hold the writer up. */
export const littleOf = ({ copyFrom }: WalBounds): number => copyFrom / 8;

export const logIsFull = (bytes: number): CarillonError =>
  new CarillonError(
    'log_unavailable',
    `the write-ahead log of the data file has grown to ${Math.floor(bytes / MIB)} MiB and cannot be reset, because a reader still uses an old state of the ` +
      'file: a backup, a look at its pages, or another program that has carillon.db open. End that reader; Carillon then continues by itself',
  );
