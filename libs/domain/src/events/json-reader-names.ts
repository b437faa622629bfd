const SIZE = 1024;
const LONGEST = 40;
/**
 * Maximum lookups per text. The table has no more slots, and a new name costs six times as much as slicing the text.
 */
export const MAX_LOOKUPS = SIZE;
const QUOTE = 0x22;

/**
 * Cache of field names by hash slot; a newer name replaces an older one. Events of a stream repeat their names, and a
 * name known to the engine as a property name costs half as much as a new slice. The cache is bounded, and results
 * depend only on the text.
 */
const names: string[] = Array.from({ length: SIZE }, () => '');

/** Predecessor of a name: the slot of the previous name in its object, or `firstUnder` the object's own name. */
export type Before = number;

/** Slot of the name that followed last time. */
const followers = new Uint16Array(2 * SIZE);

export const firstUnder = (place: number): Before => SIZE + place;

/**
 * Returns the slot of the name in `text` from `start` to a quote, if it followed the previous name last time. Otherwise
 * -1.
 */
export function expectedPlace(text: string, start: number, before: Before): number {
  const place = followers[before] ?? 0;
  const name = names[place] ?? '';
  return text.charCodeAt(start + name.length) === QUOTE && name !== '' && text.startsWith(name, start) ? place : -1;
}

export function expectNext(before: Before, place: number): void {
  followers[before] = place;
}

export const nameAt = (place: number): string => names[place] ?? '';

/**
 * The place of the characters of `text` from `start` up to `end`, which it may have taken from another name; -1 where they
 * are too many to be kept. `hash` is that of `hashOf`.
 */
export function placeOfName(text: string, start: number, end: number, hash: number): number {
  const length = end - start;
  if (length > LONGEST) return -1;
  const place = (hash ^ (hash >>> 10)) & (SIZE - 1);
  const known = names[place] ?? '';
  if (known.length === length && text.startsWith(known, start)) return place;
  const name = text.slice(start, end);
  // As a property name the string is stored separately. A slice would keep the whole text in memory.
  const [held = name] = Object.keys({ [name]: true });
  names[place] = held;
  return place;
}

export const hashOf = (hash: number, code: number): number => (Math.imul(hash, 31) + code) | 0;
