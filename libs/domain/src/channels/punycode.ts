const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;

/** The bias for the next delta (RFC 3492, 6.1). */
function adapt(delta: number, points: number, first: boolean): number {
  let rest = first ? Math.floor(delta / DAMP) : Math.floor(delta / 2);
  rest += Math.floor(rest / points);
  let steps = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; steps += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return steps + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}

const digitOf = (character: string): number => {
  const digit = 'abcdefghijklmnopqrstuvwxyz0123456789'.indexOf(character);
  return digit < 0 ? Number.NaN : digit;
};

/**
 * A label of a domain in Unicode from what follows its `xn--` (RFC 3492, 6.2). Only for labels that were checked to be
 * valid; of others, what could be read.
 */
export function unicodeLabel(encoded: string): string {
  const end = encoded.lastIndexOf('-');
  const points = Array.from(encoded.slice(0, Math.max(0, end)), (character) => character.codePointAt(0) ?? 0);
  let code = 128;
  let place = 0;
  let bias = 72;
  for (let at = end < 0 ? 0 : end + 1; at < encoded.length;) {
    const before = place;
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(encoded.charAt(at++));
      if (Number.isNaN(digit)) return String.fromCodePoint(...points);
      place += digit * weight;
      const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias));
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = points.length + 1;
    bias = adapt(place - before, length, before === 0);
    code += Math.floor(place / length);
    place %= length;
    if (code > 0x10_ffff) break;
    points.splice(place++, 0, code);
  }
  return String.fromCodePoint(...points);
}
