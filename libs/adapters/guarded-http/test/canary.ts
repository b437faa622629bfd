import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OutboundHttp, OutboundRequest } from '@carillon/ports';
import { createAddressGuard, createGuardedHttp, type ResolveName } from '../src/index.ts';

export type TestServer = { readonly port: number; readonly hits: string[]; close(): Promise<void> };

/** A server that counts who came. */
export async function listenOn(
  host: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end('[]'),
): Promise<TestServer> {
  const hits: string[] = [];
  const server: Server = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    hits,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** HTTP as a deployment has it that lists these ranges. */
export const httpWith = (allowed: readonly string[], resolveName?: ResolveName): OutboundHttp =>
  createGuardedHttp({ guard: createAddressGuard({ allowed, ...(resolveName && { resolveName }) }) });

export const requestTo = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"user_ids":["1"]}',
  maxBytes: 1024 * 1024,
  connectTimeout: 10_000,
  totalTimeout: 20_000,
  ...more,
});
