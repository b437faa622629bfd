import { createServer, type RequestListener, type Server } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { freePorts } from '../services/process/free-ports.ts';

/** A real OpenID provider on loopback; its clients get tokens for themselves, so `sub` is the name of the client. */
export type OpenIdProvider = {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** An access token for a resource (its `aud`), as a client gets it: by its own secret, over HTTP. */
  token(client: string, resource: string): Promise<string>;
  /** Signs with a fresh key from now on; the ones before stay published. */
  rotate(): Promise<void>;
  /** Publishes only the key that signs now. */
  forgetOldKeys(): void;
  /** Stops listening and cuts every connection, until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Times that the key set was asked for. */
  asked(): number;
};

const SECRET = 'a secret that every client of this test has';
const CLIENTS = ['ada', 'bob'];
/** Long, so that a test may move its clock by days. */
const LIFETIME = 90 * 86_400;

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  let asked = 0;
  let answer: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => {
    if (request.url === '/jwks') asked += 1;
    answer(request, response);
  });
  // A port that no other process takes while the provider is stopped.
  const [port = 0] = await freePorts(1);
  await listen(server, port);
  const issuer = `http://127.0.0.1:${port}`;
  let keys: JWK[] = [];
  let made = 0;
  const serve = (): void => {
    const handle = createProvider(issuer, keys).callback();
    answer = (request, response) => void handle(request, response);
  };
  const rotate = async (): Promise<void> => {
    made += 1;
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    keys = [{ ...(await exportJWK(privateKey)), kid: `key-${made}`, alg: 'RS256', use: 'sig' }, ...keys];
    serve();
  };
  await rotate();
  return {
    issuer,
    jwksUrl: `${issuer}/jwks`,
    async token(client, resource) {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${client}:${encodeURIComponent(SECRET)}`).toString('base64')}`,
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
      });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`the provider gave no token: ${response.status}`);
      return token;
    },
    rotate,
    forgetOldKeys() {
      keys = keys.slice(0, 1);
      serve();
    },
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise((closed) => server.close(closed));
    },
    start: () => listen(server, port),
    asked: () => asked,
  };
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((listening) => server.listen(port, '127.0.0.1', listening));

function createProvider(issuer: string, keys: JWK[]): Provider {
  return new Provider(issuer, {
    jwks: { keys },
    clients: CLIENTS.map((name) => ({
      client_id: name,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    ttl: { ClientCredentials: LIFETIME },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: '',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: LIFETIME,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
}
