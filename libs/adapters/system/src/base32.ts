const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.split('');
/** Two digits at a time take half as long as one. */
const PAIRS = ALPHABET.flatMap((first) => ALPHABET.map((second) => first + second));
const PAIR_BITS = 10;

/** Sixteen bytes as 26 characters of Crockford base32, highest bits first: no letters that people mistake for digits. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  // 26 characters hold 130 bits: two zero bits lead, so that the first character is 0 to 7.
  let pending = 0;
  let bits = 2;
  for (let at = 0; at < 16; at += 1) {
    pending = (pending << 8) | (bytes[at] ?? 0);
    bits += 8;
    if (bits < PAIR_BITS) continue;
    bits -= PAIR_BITS;
    text += PAIRS[pending >> bits];
    pending &= (1 << bits) - 1;
  }
  return text;
}
