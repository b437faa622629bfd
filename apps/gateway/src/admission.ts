import {
  listResources,
  streamTable,
  type ApiKeyBody,
  type Configuration,
  type EventStream,
  type Resource,
} from '@carillon/domain';
import { CarillonError, parseInstant, type Instant } from '@carillon/kernel';
import type { PresentedKeys } from './ports.ts';

/** Who may append to what: the outcome of the checks on credential, path and stream. */
export type Admission = {
  readonly stream: EventStream;
  /** Kind and name of the credential, for the record's header. */
  readonly principal: string;
};

const KEY_INDEX = new WeakMap<Configuration, ReadonlyMap<string, Resource<'api_key'>>>();

/** Never the digest of any key; comparing with it costs what comparing with a real one costs. */
const NO_DIGEST = '0'.repeat(64);

/**
 * Checks credential, then path and stream. Whatever is wrong with a credential, and also where it belongs to another
 * workspace than the path, the answer is the same, so that nobody without one learns which paths exist.
 */
export function admit(
  configuration: Configuration,
  path: string,
  authorization: string | undefined,
  keys: PresentedKeys,
  now: Instant,
): Admission {
  const key = authenticate(configuration, authorization, keys, now);
  const stream = streamTable(configuration).streams.get(path);
  const [workspace] = path.split('/');
  if (!key || key.ref.workspace !== (stream?.workspace ?? workspace)) throw unauthorized();
  if (!stream) {
    throw new CarillonError(
      'not_found',
      'This workspace has no stream at this path. The portal and `carillon export` show the paths.',
    );
  }
  if (!stream.security.api_keys?.includes(key.ref.name)) {
    throw new CarillonError(
      'forbidden',
      'This stream does not take this API key. Name the key in its security, or send another.',
    );
  }
  return { stream, principal: `api_key:${key.ref.name}/${key.body.key_id}` };
}

const unauthorized = (): CarillonError =>
  new CarillonError('unauthorized', 'Send a valid API key of this workspace as Authorization: Bearer <key>.');

function authenticate(
  configuration: Configuration,
  authorization: string | undefined,
  keys: PresentedKeys,
  now: Instant,
): Resource<'api_key'> | null {
  const presented = /^bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  const keyId = presented === undefined ? null : keys.parse(presented);
  const known = keyId === null ? undefined : keysById(configuration).get(keyId);
  const right = keys.verify(presented ?? '', known?.body.digest ?? NO_DIGEST);
  return known && right && !isExpired(known.body, now) ? known : null;
}

/** A time that cannot be read counts as passed. */
function isExpired({ expires_at: expiresAt }: ApiKeyBody, now: Instant): boolean {
  return expiresAt !== undefined && (parseInstant(expiresAt) ?? Number.NEGATIVE_INFINITY) <= now;
}

function keysById(configuration: Configuration): ReadonlyMap<string, Resource<'api_key'>> {
  const known = KEY_INDEX.get(configuration);
  if (known) return known;
  const index = new Map(listResources(configuration, 'api_key').map((key) => [key.body.key_id, key]));
  KEY_INDEX.set(configuration, index);
  return index;
}
