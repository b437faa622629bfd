import type { Duration, Instant } from '@carillon/kernel';

/** Offset of local time from UTC, valid from `at` on. */
type Piece = { readonly at: Instant; readonly offset: Duration };

/** Offsets are looked up in stretches of this length: `Intl` is asked 64 times for one, and then not again. */
const STRETCH: Duration = 32 * 86_400_000;
/** No zone changes its clock twice within this; a test holds all zones to it from 2000 to 2037. */
const STEP: Duration = 43_200_000;

/** Recipients choose their zones, so all memories have a bound. A formatter holds about 30 KB, a stretch 200 bytes. */
const FORMATTERS_KEPT = 64;
const ZONES_KEPT = 512;
const STRETCHES_KEPT = 16;
const formatters = new Map<string, Intl.DateTimeFormat>();

function remember<Key, Value>(memory: Map<Key, Value>, key: Key, kept: number, make: () => Value): Value {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const made = make();
  const oldest = memory.size >= kept ? memory.keys().next().value : undefined;
  if (oldest !== undefined) memory.delete(oldest);
  memory.set(key, made);
  return made;
}

const formatterOf = (zone: string): Intl.DateTimeFormat =>
  remember(
    formatters,
    zone,
    FORMATTERS_KEPT,
    () =>
      new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        calendar: 'iso8601',
        numberingSystem: 'latn',
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      }),
  );

/** Returns the offset of a zone from `Intl`. Throws RangeError for an unknown zone. */
function askedOffset(zone: string, at: Instant): Duration {
  const shown = { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of formatterOf(zone).formatToParts(at)) {
    if (type in shown) shown[type as keyof typeof shown] = Number(value);
  }
  const wall = Date.UTC(shown.year, shown.month - 1, shown.day, shown.hour, shown.minute, shown.second);
  return wall - Math.floor(at / 1000) * 1000;
}

/** When the offset changes between the two, to the second: clocks change at whole seconds. */
function changeBetween(zone: string, from: Piece, to: Instant): Instant {
  let [before, after] = [from.at, to];
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000;
    if (askedOffset(zone, middle) === from.offset) before = middle;
    else after = middle;
  }
  return after;
}

function piecesOf(zone: string, stretch: number): readonly Piece[] {
  const start = stretch * STRETCH;
  const pieces: Piece[] = [{ at: start, offset: askedOffset(zone, start) }];
  let before = { at: start, offset: askedOffset(zone, start) };
  for (let at = start + STEP; at <= start + STRETCH; at += STEP) {
    const offset = askedOffset(zone, at);
    if (offset !== before.offset) pieces.push({ at: changeBetween(zone, before, at), offset });
    before = { at, offset };
  }
  return pieces;
}

/** How far the clock on the wall is ahead of UTC, in milliseconds. */
export type Offsets = (at: Instant) => Duration;

/** The last stretch is cached, because callers ask about times close together. */
function offsetsNamed(name: string): Offsets {
  const stretches = new Map<number, readonly Piece[]>();
  let last = Number.NaN;
  let pieces: readonly Piece[] = [];
  return (at) => {
    const stretch = Math.floor(at / STRETCH);
    if (stretch !== last) {
      pieces = remember(stretches, stretch, STRETCHES_KEPT, () => piecesOf(name, stretch));
      last = stretch;
    }
    let of = pieces.length - 1;
    while (of > 0 && pieces[of]!.at > at) of -= 1;
    return pieces[of]!.offset;
  };
}

/** Names count in any case: what was found under one spelling is that of all. */
const zones = new Map<string, Offsets>();
const spellings = new Map<string, Offsets>();

/** The offsets of a zone. Throws RangeError where the zone is none. */
export function offsetsOf(zone: string): Offsets {
  return remember(spellings, zone, ZONES_KEPT, () => {
    const name = zone.toLowerCase();
    return remember(zones, name, ZONES_KEPT, () => {
      formatterOf(name);
      return offsetsNamed(name);
    });
  });
}
