const SIZE = 1024;
const LONGEST = 40;

/**
 * Names of fields seen before, each at the place that its hash gives; a newer one takes the place of an older one.
 * Events of a stream repeat their names, and a name that the engine already holds as a property name costs half as
 * much as a fresh slice of the text. Bounded, and what it answers depends on the text alone.
 */
const names: string[] = Array.from({ length: SIZE }, () => '');

/** The characters of `text` from `start` up to `end`; `hash` is any function of just these characters. */
export function knownName(text: string, start: number, end: number, hash: number): string {
  const length = end - start;
  const place = (hash ^ (hash >>> 10)) & (SIZE - 1);
  const known = names[place] ?? '';
  if (known.length === length && text.startsWith(known, start)) return known;
  const name = text.slice(start, end);
  if (length > LONGEST) return name;
  // As a property name it is held apart from the text, which would else be kept alive by its slice.
  const [held = name] = Object.keys({ [name]: true });
  names[place] = held;
  return held;
}
