import { hasExpired, listResources, type Configuration, type Resource } from '@carillon/domain/configuration';
import type { Instant } from '@carillon/kernel';
import type { PresentedKeys } from './ports.ts';

const KEY_INDEX = new WeakMap<Configuration, ReadonlyMap<string, Resource<'api_key'>>>();

/** Never the digest of any key; comparing with it costs what comparing with a real one costs. */
const NO_DIGEST = '0'.repeat(64);

/** Returns the live key that was presented, of any workspace. Null if there is none. */
export function findApiKey(
  configuration: Configuration,
  presented: string | undefined,
  keys: PresentedKeys,
  now: Instant,
): Resource<'api_key'> | null {
  const keyId = presented === undefined ? null : keys.parse(presented);
  const known = keyId === null ? undefined : keysById(configuration).get(keyId);
  const right = keys.verify(presented ?? '', known?.body.digest ?? NO_DIGEST);
  return known && right && !hasExpired(known.body, now) ? known : null;
}

function keysById(configuration: Configuration): ReadonlyMap<string, Resource<'api_key'>> {
  const known = KEY_INDEX.get(configuration);
  if (known) return known;
  const index = new Map(listResources(configuration, 'api_key').map((key) => [key.body.key_id, key]));
  KEY_INDEX.set(configuration, index);
  return index;
}
