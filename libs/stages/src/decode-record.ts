import type { Result } from '@carillon/kernel';
import type { DecodeError, LogRecord, RecordCodec } from '@carillon/ports';

/**
 * Reads a derived record. One of a schema that is unknown here may be sound, written by a newer program: then the registry
 * is asked before it counts as broken. Rejects where the registry cannot be asked, so that the batch comes again.
 */
export async function decodeRecord<T>(codec: RecordCodec<T>, bytes: Uint8Array): Promise<Result<T, DecodeError>> {
  const decoded = codec.decode(bytes);
  if (decoded.ok || decoded.error.reason !== 'unknown_schema') return decoded;
  return (await codec.learn(bytes)) ? codec.decode(bytes) : decoded;
}

export type Decoded<T> = { readonly record: LogRecord; readonly decoded: Result<T, DecodeError> };

/** Decodes a batch in sequence. The first record of an unknown schema fetches the schema for all. */
export async function decodeRecords<T>(
  codec: RecordCodec<T>,
  records: readonly LogRecord[],
): Promise<readonly Decoded<T>[]> {
  const all: Decoded<T>[] = [];
  for (const record of records) all.push({ record, decoded: await decodeRecord(codec, record.value) });
  return all;
}
