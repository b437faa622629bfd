import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeTraceResponse, type ReceivedSpan, readTraceRequest } from './trace-request.ts';

/** A request as received, for tests of the wire format. */
export type OtlpRequest = {
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly spans: readonly ReceivedSpan[];
};
export type OtlpReceiver = {
  /** Base address; exporters append `/v1/traces`. */ readonly endpoint: string;
  /** Every span taken so far, in the order in which they came. */ readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly OtlpRequest[];
  /** What was refused, and why: a test that expects good requests expects this to be empty. */ readonly refused: readonly string[];
  /** Answers the next requests with this status instead of taking them; 200 takes them again. */
  answer(status: number): void;
  /** Resolves with the first span that fits; throws when none comes in time. */
  waitFor(fits: (span: ReceivedSpan) => boolean, within?: number): Promise<ReceivedSpan>;
  close(): Promise<void>;
};

/**
 * A collector for tests: a real HTTP server on loopback that takes OTLP/HTTP protobuf traces, plain or gzip, and reads them with the
 * official definitions. It refuses what a collector would refuse: another path, method, type, or bytes that are no trace request.
 */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: OtlpRequest[] = [];
  const refused: string[] = [];
  let status = 200;

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bytesOf(request);
    const { 'content-type': contentType, 'content-encoding': contentEncoding } = request.headers;
    const refuse = (code: number, why: string): void => {
      refused.push(`${code} ${why}`);
      response.writeHead(code).end();
    };
    if (request.url !== '/v1/traces') return refuse(404, `${request.url}`);
    if (request.method !== 'POST') return refuse(405, `${request.method}`);
    if (contentType !== 'application/x-protobuf') return refuse(415, `${contentType}`);
    if (contentEncoding !== undefined && contentEncoding !== 'gzip') return refuse(415, contentEncoding);
    if (status !== 200) return void response.writeHead(status).end();
    let read: readonly ReceivedSpan[];
    try {
      read = readTraceRequest(contentEncoding === 'gzip' ? gunzipSync(body) : body);
    } catch (error) {
      return refuse(400, error instanceof Error ? error.message : String(error));
    }
    spans.push(...read);
    requests.push({ contentType, contentEncoding, spans: read });
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(encodeTraceResponse());
  };

  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    requests,
    refused,
    answer(next) {
      status = next;
    },
    async waitFor(fits, within = 60_000) {
      const deadline = Date.now() + within;
      for (;;) {
        const found = spans.find(fits);
        if (found) return found;
        if (Date.now() > deadline) {
          throw new Error(
            `no such span within ${within} ms; came: ${spans.map((span) => span.name).join(', ') || 'none'}`,
          );
        }
        await pause(10);
      }
    },
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
