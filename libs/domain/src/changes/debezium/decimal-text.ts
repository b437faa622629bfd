import { fromBase64 } from './base64.ts';

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** PostgreSQL has at most 16,383 digits after the decimal point. A larger scale is written as an exponent. */
const MAX_PLAIN_SCALE = 16_383;

/**
 * Returns a decimal as text, from base64 of its digits as a whole number (two's complement, the highest byte first), and the number of
 * digits after the decimal point. Undefined: it is not base64.
 */
export function decimalText(base64: string, scale: number): string | undefined {
  const unscaled = wholeNumber(base64);
  if (unscaled === undefined) return undefined;
  if (scale === 0) return String(unscaled);
  if (scale < 0 || scale > MAX_PLAIN_SCALE) return `${unscaled}e${-scale}`;
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function wholeNumber(base64: string): bigint | undefined {
  const bytes = fromBase64(base64);
  if (bytes === undefined) return undefined;
  if (bytes.length === 0) return 0n;
  let hex = '0x';
  for (const byte of bytes) hex += HEX[byte];
  return BigInt.asIntN(bytes.length * 8, BigInt(hex));
}
