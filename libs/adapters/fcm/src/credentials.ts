import { err, isJsonObject, ok, parseJson, type Duration, type Json, type Result } from '@carillon/kernel';
import type { JWT } from 'google-auth-library';
import type { Agent } from 'node:https';

/** What of a service account's key file is used, and nothing else of it. */
export type ServiceAccount = {
  readonly project_id: string;
  readonly client_email: string;
  readonly private_key: string;
};

/** A project's id, also the older ones of a domain; it stands in an address. */
const PROJECT = /^[a-z0-9][a-z0-9.:-]{2,98}[a-z0-9]$/i;

/**
 * Reads a key file as the console of Firebase gives it. Everything but three fields is left out: Google's library would
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
  };
  if (field('type') !== 'service_account') return err('The secret holds no key file of a service account.');
  if (!PROJECT.test(account.project_id)) return err('The key file has no project_id.');
  if (account.client_email === '' || !account.private_key.includes('PRIVATE KEY')) {
    return err('The key file has no client_email or no private_key.');
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
const PATIENCE: Duration = 15_000;

/** Imported when first used: it takes half a second. */
const loadLibrary = () => import('google-auth-library');

/**
 * Access tokens of a service account. Google's library keeps one until shortly before it ends, and asks once for many
 * who wait. `forget` is for a token that FCM refused. firebase-admin has no part in this: see decision 0026.
 */
export function createAccessTokens(account: ServiceAccount, agent?: Agent) {
  let client: Promise<JWT> | undefined;

  async function make(): Promise<JWT> {
    const { JWT: Client } = await loadLibrary();
    return new Client({
      email: account.client_email,
      key: account.private_key,
      scopes: SCOPES,
      ...(agent ? { transporterOptions: { agent } } : {}),
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
        const timer = setTimeout(() => settle(UNREACHABLE), PATIENCE);
        void ask().then((answer) => {
          clearTimeout(timer);
          return settle(answer);
        });
      });
    },
    forget(): void {
      client = undefined;
    },
  };
}
export type AccessTokens = ReturnType<typeof createAccessTokens>;

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
