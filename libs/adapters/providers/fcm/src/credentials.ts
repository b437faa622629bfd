import { err, isJsonObject, ok, parseJson, type Duration, type Json, type Result } from '@carillon/kernel';
import { createHttp1Client, type Http1Client } from '@carillon/one-request';
import type { AddressGuard } from '@carillon/ports';
import type { JWT } from 'google-auth-library';

/** The fields of a service account's key file that are used. */
export type ServiceAccount = {
  readonly project_id: string;
  readonly client_email: string;
  readonly private_key: string;
  /** Where access tokens are asked for. */
  readonly token_uri: string;
};

/** What every key file of the console names. */
const GOOGLE_TOKENS = 'https://oauth2.googleapis.com/token';

/** A project's id, also the older ones of a domain; it stands in an address. */
const PROJECT = /^[a-z0-9][a-z0-9.:-]{2,98}[a-z0-9]$/i;

/**
 * Reads a key file as the console of Firebase gives it. Everything but four fields is left out: Google's library would
 * also obey files of other types, and read a file or ask an address that the text names.
 */
export function readServiceAccount(text: string): Result<ServiceAccount, string> {
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    return err('The secret holds no JSON: it is the whole key file that the console of Firebase gives.');
  }
  const field = (name: string): string => {
    const value = isJsonObject(json) && Object.hasOwn(json, name) ? json[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  const account = {
    project_id: field('project_id'),
    client_email: field('client_email'),
    private_key: field('private_key'),
    token_uri: field('token_uri') || GOOGLE_TOKENS,
  };
  if (field('type') !== 'service_account') return err('The secret holds no key file of a service account.');
  if (!PROJECT.test(account.project_id)) return err('The key file has no project_id.');
  if (account.client_email === '' || !account.private_key.includes('PRIVATE KEY')) {
    return err('The key file has no client_email or no private_key.');
  }
  if (!/^https?:$/.test(URL.parse(account.token_uri)?.protocol ?? '')) {
    return err('The token_uri of the key file is no address of http or https.');
  }
  return ok(account);
}

export type AccessToken =
  | { readonly kind: 'token'; readonly token: string }
  /** Google refuses the account, or its key is none. */
  | { readonly kind: 'refused'; readonly words: string }
  | { readonly kind: 'unavailable'; readonly words: string };

const SCOPES = ['https://www.googleapis.com/auth/firebase.messaging'];
/** The library repeats by itself what failed to come; nobody waits longer than this for it. */
const TIMEOUT: Duration = 15_000;

const LIMITS = { connect: 10_000, answer: 10_000, bytes: 64 * 1024 } as const;

/** Imported when first used: it takes half a second. */
const loadLibrary = () => import('google-auth-library');

export type AccessTokenOptions = {
  /** Says where tokens may be asked for, whoever owns the account: nobody reads the address in a key file that is pasted. */
  readonly guard: AddressGuard;
  /** Certificates of authorities, PEM, that count besides those of the machine. */
  readonly trusted: readonly string[];
};

/**
 * Access tokens of a service account. Google's library keeps one until shortly before it ends, and asks once for many
 * who wait; the requests are ours, to the address of the key file. `forget` is for a token that FCM refused.
 * firebase-admin has no part in this: see decision 0026.
 */
export function createAccessTokens(account: ServiceAccount, { guard, trusted }: AccessTokenOptions) {
  let client: Promise<JWT> | undefined;
  const http = createHttp1Client({ limits: LIMITS, connections: 2, guard, trusted });

  async function make(): Promise<JWT> {
    const { JWT: Client } = await loadLibrary();
    return new Client({
      email: account.client_email,
      key: account.private_key,
      scopes: SCOPES,
      transporterOptions: { fetchImplementation: (_url, request) => askAt(account.token_uri, request, http) },
    });
  }

  async function ask(): Promise<AccessToken> {
    try {
      client ??= make();
      const { token } = await (await client).getAccessToken();
      return token ? { kind: 'token', token } : { kind: 'unavailable', words: 'Google gave no access token.' };
    } catch (error) {
      client = undefined;
      return failureOf(error);
    }
  }

  return {
    get(): Promise<AccessToken> {
      return new Promise((settle) => {
        const timer = setTimeout(() => settle(UNREACHABLE), TIMEOUT);
        void ask().then((answer) => {
          clearTimeout(timer);
          return settle(answer);
        });
      });
    },
    forget(): void {
      client = undefined;
    },
    close: () => http.close(),
  };
}
export type AccessTokens = ReturnType<typeof createAccessTokens>;

/** The library knows one address for tokens, a constant of its own; what it asks is asked where the key file says. */
async function askAt(address: string, request: RequestInit | undefined, http: Http1Client): Promise<Response> {
  // The form of the library: URLSearchParams. It sends nothing else.
  const body = request?.body instanceof URLSearchParams ? request.body.toString() : '';
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
  };
  const end = await http.send({ method: 'POST', url: new URL(address), headers, body }, AbortSignal.timeout(TIMEOUT));
  if (end.kind !== 'answered') throw new Error('no answer');
  return new Response(NO_BODY.has(end.status) ? null : end.body, {
    status: statusIn(end.status),
    headers: end.headers,
  });
}

/** Statuses that a `Response` takes no body with. */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
/** Statuses outside 200 to 599 become 502, because the library accepts no others and no token came with them. */
const statusIn = (status: number): number => (status >= 200 && status <= 599 ? status : 502);

const UNREACHABLE: AccessToken = { kind: 'unavailable', words: 'Google could not be asked for an access token.' };

/** Neither the library's words nor Google's are repeated: they may quote the key. */
function failureOf(error: unknown): AccessToken {
  const status = statusOf(error);
  if (status === null) {
    // A key that OpenSSL cannot read fails before anything is asked.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return typeof code === 'string' && code.startsWith('ERR_OSSL')
      ? { kind: 'refused', words: 'The private key of the service account cannot be read.' }
      : UNREACHABLE;
  }
  return status >= 400 && status < 500 && status !== 429
    ? { kind: 'refused', words: `Google refuses the service account (${status}).` }
    : { kind: 'unavailable', words: `Google gave no access token (${status}).` };
}

function statusOf(error: unknown): number | null {
  const response = error instanceof Error && 'response' in error ? error.response : undefined;
  const status =
    typeof response === 'object' && response !== null && 'status' in response ? response.status : undefined;
  return typeof status === 'number' ? status : null;
}
