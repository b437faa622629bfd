import { err, ok, type Result } from '@carillon/kernel';

/** Why bytes of the log are no record. `reason` is a class for counters and dead letters, `detail` a sentence. */
export type DecodeFault = {
  readonly reason: 'not_framed' | 'unknown_schema' | 'not_avro' | 'invalid_record';
  readonly detail: string;
};

const HEADER = 5;

/** The Confluent wire format: a zero byte, the schema id as four bytes big-endian, then Avro. */
export function frame(id: number, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER + body.length);
  new DataView(bytes.buffer).setUint32(1, id);
  bytes.set(body, HEADER);
  return bytes;
}

/** Reads the frame; the Avro part is a view on the same bytes. */
export function unframe(bytes: Uint8Array): Result<{ readonly id: number; readonly body: Buffer }, DecodeFault> {
  if (bytes.length < HEADER)
    return err({ reason: 'not_framed', detail: `the log record is corrupt: it has fewer than ${HEADER} bytes` });
  if (bytes[0] !== 0)
    return err({
      reason: 'not_framed',
      detail: `the log record is corrupt: its first byte is ${bytes[0]}, expected 0`,
    });
  const id = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1);
  return ok({ id, body: Buffer.from(bytes.buffer, bytes.byteOffset + HEADER, bytes.byteLength - HEADER) });
}
