import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';

/** Fields that hold the name of a person, the best first. */
const NAMES = ['name', 'full_name', 'fullName', 'first_name', 'firstName', 'given_name'] as const;
/** Objects and lists that are looked at, and how deep. */
const MAX_VISITS = 500;
const MAX_DEPTH = 8;

function nameIn(object: JsonObject): string | null {
  for (const name of NAMES) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}

/**
 * Returns the name of a recipient: from the recipient's variables, else from the object of the event that holds one of the addresses.
 * Null if neither has a name.
 */
export function personName(event: JsonObject, variables: JsonObject, addresses: readonly string[]): string | null {
  const own = nameIn(variables);
  if (own !== null) return own;
  const wanted = new Set(addresses.map((address) => address.toLowerCase()));
  let left = MAX_VISITS;
  function find(value: Json, depth: number): string | null {
    left -= 1;
    if (left < 0 || depth > MAX_DEPTH || value === null || typeof value !== 'object') return null;
    const inner: readonly Json[] = isJsonObject(value) ? Object.values(value) : value;
    const isTheirs = inner.some((one) => typeof one === 'string' && wanted.has(one.toLowerCase()));
    const name = isTheirs && isJsonObject(value) ? nameIn(value) : null;
    if (name !== null) return name;
    for (const one of inner) {
      const found = find(one, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
  return find(event, 0);
}
