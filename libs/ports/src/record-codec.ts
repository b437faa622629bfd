import type { LogRecords } from '@carillon/contracts';
import type { Result } from '@carillon/kernel';

/** Turns one kind of derived record into log bytes and back. Decoding never throws: bytes from the log may be corrupt. */
export type RecordCodec<T> = {
  encode(record: T): Uint8Array;
  /** The error is a class (`not_framed`, `unknown_schema`, `not_avro`, `invalid_record`) and a sentence. */
  decode(bytes: Uint8Array): Result<T, DecodeError>;
  /**
   * Asks the registry for the schema of bytes whose schema is unknown here, because a newer program may have written
   * them. Resolves to true if they can be decoded now. A missing schema is remembered for a while, so that broken
   * records cause few requests. Rejects if the registry is unavailable, because the record may still be valid.
   */
  learn(bytes: Uint8Array): Promise<boolean>;
};
export type DecodeError = { readonly reason: string; readonly detail: string };

/** The codecs of all derived records, with every schema registered before the first use. */
export type RecordCodecs = { readonly [Kind in keyof LogRecords]: RecordCodec<LogRecords[Kind]> };
