/** One item of a batch. */
export type BatchItem = {
  /** Counted from 1: the line of the body. */
  readonly number: number;
  /** A view of what was received. Null: the item is above the limit. */
  readonly bytes: Uint8Array | null;
};

/** Splits a body into items while it arrives. Throws a CarillonError if it cannot. */
export type ItemSplitter = {
  /** Returns the items that end in this chunk. */
  push(chunk: Uint8Array): Iterable<BatchItem>;
  /** Returns the items that end with the body. */
  end(): Iterable<BatchItem>;
  /** Number of the item that has not ended. */
  next(): number;
  /** Bytes of an item that has not ended. */
  held(): number;
};
