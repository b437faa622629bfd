const SIZE = 1024;
const LONGEST = 40;
/**
 * So many names of one text are looked up here. There are no more places, and a name that is new costs six times as much as a
 * slice of the text.
 */
export const MAX_LOOKUPS = SIZE;
const QUOTE = 0x22;

/**
 * Names of fields seen before, each at the place that its hash gives; a newer one takes the place of an older one.
 * Events of a stream repeat their names, and a name that the engine already holds as a property name costs half as
 * much as a fresh slice of the text. Bounded, and what it answers depends on the text alone.
 */
const names: string[] = Array.from({ length: SIZE }, () => '');

/** What came before a name: the place of the name before it in its object, or `firstUnder` the name of its object. */
export type Before = number;

/** The place of the name that stood there the last time. */
const followers = new Uint16Array(2 * SIZE);

export const firstUnder = (place: number): Before => SIZE + place;

/** The place of the name in `text` from `start` up to a quote, if it is the one that stood there the last time; else -1. */
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
  // As a property name it is held apart from the text, which would else be kept alive by its slice.
  const [held = name] = Object.keys({ [name]: true });
  names[place] = held;
  return place;
}

export const hashOf = (hash: number, code: number): number => (Math.imul(hash, 31) + code) | 0;
