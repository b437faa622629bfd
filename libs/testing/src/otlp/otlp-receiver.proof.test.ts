import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

/**
 * A request written by hand after the wire format, so that the receiver is held to the definition and not to an encoder: resource_spans(1) >
 * scope_spans(2) > spans(2) > trace_id(1), span_id(2), name(5), kind(6), start(7) and end(8) as fixed64, attributes(9).
 */
const field = (number: number, body: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
};
const fixed64 = (number: number, value: bigint): Buffer => {
  const bytes = Buffer.alloc(9);
  bytes[0] = (number << 3) | 1;
  bytes.writeBigUInt64LE(value, 1);
  return bytes;
};
const span = (traceId: Buffer): Buffer =>
  Buffer.concat([
    field(1, traceId),
    field(2, Buffer.alloc(8, 0xbb)),
    field(5, 'by hand'),
    Buffer.from([6 << 3, 3]),
    fixed64(7, 1_700_000_000_000_000_001n),
    fixed64(8, 1_700_000_000_000_000_002n),
    field(9, Buffer.concat([field(1, 'answer'), field(2, Buffer.from([3 << 3, 42]))])),
  ]);
const request = (traceId = Buffer.alloc(16, 0xaa)): Buffer => field(1, field(2, field(2, span(traceId))));

describe('the OTLP receiver', () => {
  let receiver: OtlpReceiver | undefined;
  afterEach(async () => {
    await receiver?.close();
    receiver = undefined;
  });
  const post = async (body: Uint8Array, headers: Record<string, string> = {}, path = '/v1/traces'): Promise<number> => {
    receiver ??= await startOtlpReceiver();
    const type = { 'content-type': 'application/x-protobuf' };
    const response = await fetch(receiver.endpoint + path, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { ...type, ...headers },
    });
    return response.status;
  };

  it('reads a span that was written by hand, plain and gzip', async () => {
    expect(await post(request())).toBe(200);
    expect(await post(gzipSync(request()), { 'content-encoding': 'gzip' })).toBe(200);
    expect(receiver?.spans).toHaveLength(2);
    for (const found of receiver?.spans ?? []) {
      expect(found).toMatchObject({
        name: 'by hand',
        kind: 'client',
        traceId: 'aa'.repeat(16),
        spanId: 'bb'.repeat(8),
        parentSpanId: null,
        startedAt: 1_700_000_000_000_000_001n,
        endedAt: 1_700_000_000_000_000_002n,
        attributes: { answer: 42 },
        status: 'unset',
      });
    }
  });

  it('refuses what a collector refuses', async () => {
    expect(await post(request(), {}, '/v1/logs')).toBe(404);
    expect(await post(request(), { 'content-type': 'application/json' })).toBe(415);
    expect(await post(Buffer.from([0x0a, 0xff]))).toBe(400);
    expect(await post(request(Buffer.alloc(4, 1)))).toBe(400);
    expect(receiver?.spans).toHaveLength(0);
    expect(receiver?.refused).toHaveLength(4);
  });
});
