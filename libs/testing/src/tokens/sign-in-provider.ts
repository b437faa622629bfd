import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { decodeJwt, exportJWK, generateKeyPair, importJWK, SignJWT, type JWK, type JWTPayload } from 'jose';
import { Provider } from 'oidc-provider';
import { freePorts } from '../services/process/free-ports.ts';

/** Claims of an account; `sub` is its name. */
export type AccountClaims = Readonly<Record<string, unknown>>;

/** Responds in place of the provider. Returns false to let the provider respond. */
type Intercept = (path: string, response: ServerResponse) => boolean;

/** A real OpenID provider on loopback that lets people sign in by the code flow, and can be told to go wrong. */
export type SignInProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Accounts by `sub`. */
  readonly accounts: Map<string, AccountClaims>;
  /** Goes through the provider's pages as this account, and answers the address to which it sends the browser back. */
  visit(location: string, account: string): Promise<URL>;
  /**
   * Changes the claims of later ID tokens and signs them with a key of the provider. Null leaves the claims unchanged.
   */
  forge(change: ((claims: JWTPayload) => JWTPayload) | null, key?: 'newest' | 'oldest' | 'unknown'): void;
  intercept(answer: Intercept | null): void;
  /** Signs later tokens with a new key. `forget`: the previous keys are no longer published. */
  rotate(forget: boolean): Promise<void>;
  /** Requests by path since it started. */
  asked(path: string): number;
  stop(): Promise<void>;
  start(): Promise<void>;
};

const CLIENT_ID = 'carillon';
const CLIENT_SECRET = 'a secret: with/signs+that %need encoding';

export async function startSignInProvider(redirectUris: readonly string[]): Promise<SignInProvider> {
  const accounts = new Map<string, AccountClaims>();
  const asked = new Map<string, number>();
  let account = '';
  let handle: RequestListener = (_request, response) => response.writeHead(503).end();
  let intercept: Intercept | null = null;
  let change: ((claims: JWTPayload) => JWTPayload) | null = null;
  let signer: 'newest' | 'oldest' | 'unknown' = 'newest';
  const everyKey: JWK[] = [];
  let published: JWK[] = [];
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    asked.set(path, (asked.get(path) ?? 0) + 1);
    if (intercept?.(path, response)) return;
    if (path === '/token' && change) rewrite(response, (body) => forged(body));
    handle(request, response);
  });
  const [port = 0] = await freePorts(1);
  await listen(server, port);
  const issuer = `http://127.0.0.1:${port}`;

  async function forged(text: string): Promise<string> {
    const body = JSON.parse(text) as { id_token?: string };
    if (body.id_token === undefined || !change) return text;
    const keys = { newest: published[0], oldest: everyKey[0], unknown: await makeKey('unknown') };
    const key = keys[signer];
    if (key?.kid === undefined) throw new Error('the provider has no key');
    const token = new SignJWT(change(decodeJwt(body.id_token))).setProtectedHeader({ alg: 'RS256', kid: key.kid });
    return JSON.stringify({ ...body, id_token: await token.sign(await importJWK(key, 'RS256')) });
  }

  const serve = (): void => {
    const provider = createProvider(issuer, published, redirectUris, accounts);
    const pages = provider.callback();
    handle = (request, response) => {
      if (request.url?.startsWith('/interaction/')) void finish(provider, request, response, account);
      else void pages(request, response);
    };
  };
  const rotate = async (forget: boolean): Promise<void> => {
    const key = await makeKey(`key-${everyKey.length + 1}`);
    everyKey.push(key);
    published = forget ? [key] : [key, ...published];
    serve();
  };
  await rotate(true);
  return {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    accounts,
    async visit(location, as) {
      account = as;
      return followPages(location, issuer);
    },
    forge(next, key = 'newest') {
      change = next;
      signer = key;
    },
    intercept: (next) => void (intercept = next),
    rotate,
    asked: (path) => asked.get(path) ?? 0,
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise((closed) => server.close(closed));
    },
    start: () => listen(server, port),
  };
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((listening) => server.listen(port, '127.0.0.1', listening));

async function makeKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
}

/** Goes from page to page as a browser does, with its cookies, until it leaves the provider. */
async function followPages(location: string, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>();
  for (let next = new URL(location), pages = 0; pages < 10; pages += 1) {
    if (next.origin !== issuer) return next;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split(/=(.*)/s);
      cookies.set(name, value);
    }
    const to = answer.headers.get('location');
    if (to === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    next = new URL(to, next);
  }
  throw new Error('the provider sends the browser round and round');
}

/** Signs the account in without a page. */
async function finish(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  accountId: string,
): Promise<void> {
  if (accountId === 'nobody') {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
    return;
  }
  await provider.interactionFinished(request, response, { login: { accountId } }, { mergeWithLastSubmission: false });
}

/** Lets the answer go out as it is written anew. */
function rewrite(response: ServerResponse, change: (body: string) => Promise<string>): void {
  const end = response.end.bind(response);
  const anew = (chunk?: unknown): ServerResponse => {
    const text = typeof chunk === 'string' || chunk instanceof Uint8Array ? Buffer.from(chunk).toString('utf8') : '';
    void change(text).then((body) => {
      response.removeHeader('content-length');
      end(body);
    });
    return response;
  };
  response.end = anew as typeof response.end;
}

function createProvider(
  issuer: string,
  keys: JWK[],
  redirectUris: readonly string[],
  accounts: ReadonlyMap<string, AccountClaims>,
): Provider {
  return new Provider(issuer, {
    jwks: { keys },
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        grant_types: ['authorization_code'],
        redirect_uris: [...redirectUris],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...accounts.get(sub), sub }) }),
    // Nobody is asked whether they agree.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        accountId: oidc.session?.accountId ?? '',
        clientId: oidc.client?.clientId ?? '',
      });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  });
}
