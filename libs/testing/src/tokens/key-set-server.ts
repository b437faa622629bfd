import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SigningKey } from './issuer.ts';

/** What the server does with the next requests. */
export type KeySetBehaviour =
  | 'serve'
  /** Takes the connection and never answers. */
  | 'hang'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** A server of public keys on loopback that counts who asks, and misbehaves on demand. */
export type KeySetServer = {
  readonly url: string;
  /** Times that the key set was asked for. */
  asked(): number;
  /** Everything that was asked for: method and path. */
  requests(): readonly string[];
  publish(...keys: readonly SigningKey[]): void;
  behave(behaviour: KeySetBehaviour): void;
  close(): Promise<void>;
};

const PATH = '/.well-known/jwks.json';

export async function startKeySetServer(...first: readonly SigningKey[]): Promise<KeySetServer> {
  let keys = first;
  let behaviour: KeySetBehaviour = 'serve';
  const requests: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`);
    if (behaviour === 'hang') return;
    const answer =
      behaviour === 'serve'
        ? { status: 200, body: JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) }) }
        : behaviour;
    const headers = 'headers' in answer ? answer.headers : {};
    response.writeHead(answer.status, { 'content-type': 'application/json', ...headers }).end(answer.body ?? '');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    asked: () => requests.filter((one) => one === `GET ${PATH}`).length,
    requests: () => requests,
    publish: (...next) => {
      keys = next;
    },
    behave: (next) => {
      behaviour = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
