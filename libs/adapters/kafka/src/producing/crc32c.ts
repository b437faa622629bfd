/** CRC-32C (Castagnoli), reversed. */
const POLYNOMIAL = 0x82_f6_3b_78;

/** `TABLES[n][byte]`: what `byte` does to the sum when n more bytes follow it. */
const TABLES = Array.from({ length: 8 }, () => new Int32Array(256));
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

for (let byte = 0; byte < 256; byte += 1) {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
  T0[byte] = sum;
}
for (let n = 1; n < 8; n += 1) {
  for (let byte = 0; byte < 256; byte += 1) {
    const before = TABLES[n - 1]?.[byte] ?? 0;
    (TABLES[n] as Int32Array)[byte] = (T0[before & 0xff] as number) ^ (before >>> 8);
  }
}

/**
 * The checksum of a record batch over `bytes` from `from` to `to`. Eight bytes at a time ("slicing by 8"): it takes a third of the time
 * of the loop in kafkajs, which goes byte by byte.
 */
export function crc32c(bytes: Uint8Array, from: number, to: number): number {
  let sum = -1;
  let at = from;
  for (const last = to - 7; at < last; at += 8) {
    sum ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    sum =
      (T7[sum & 0xff] as number) ^
      (T6[(sum >>> 8) & 0xff] as number) ^
      (T5[(sum >>> 16) & 0xff] as number) ^
      (T4[sum >>> 24] as number) ^
      (T3[bytes[at + 4] as number] as number) ^
      (T2[bytes[at + 5] as number] as number) ^
      (T1[bytes[at + 6] as number] as number) ^
      (T0[bytes[at + 7] as number] as number);
  }
  for (; at < to; at += 1) sum = (T0[(sum ^ (bytes[at] as number)) & 0xff] as number) ^ (sum >>> 8);
  return (sum ^ -1) >>> 0;
}
