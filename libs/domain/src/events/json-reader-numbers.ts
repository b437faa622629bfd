const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

export const INT64_RANGE = `${MIN_INT64} to ${MAX_INT64}`;

/** The integer of these digits, exactly: bigint where a double cannot hold it. Undefined: beyond 64 bits. */
export function readInteger(source: string): number | bigint | undefined {
  const rounded = Number(source);
  if (Number.isSafeInteger(rounded)) return rounded;
  // Nineteen digits and a sign; a longer text is not worth the work of a bigint.
  const exact = source.length <= 20 ? BigInt(source) : MAX_INT64 + 1n;
  return exact >= MIN_INT64 && exact <= MAX_INT64 ? exact : undefined;
}

/** The double nearest to a number of JSON. Undefined: beyond the largest. */
export function readDouble(source: string): number | undefined {
  const value = Number(source);
  return Number.isFinite(value) ? value : undefined;
}

/** Digits of the largest whole number within 64 bits. */
const INT64_DIGITS = 19;
/** Significant digits that every double keeps. */
const DOUBLE_DIGITS = 15;
/** Below it, doubles keep fewer digits. */
const SMALLEST_NORMAL = 2.2250738585072014e-308;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Returns a decimal number without a change of its value: a whole number within 64 bits as number or bigint, else a double
 * if 15 significant digits are enough, else the text. `NaN` and `Infinity` stay text.
 */
export function exactNumber(text: string): number | bigint | string {
  // Most numbers are short integers.
  const short = text.length <= DOUBLE_DIGITS ? Number(text) : Number.NaN;
  if (Number.isInteger(short) && String(short) === text) return short;
  const [, sign, whole, fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (sign === undefined || whole === undefined) return text;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = withoutTrailingZeros(digits);
  if (significant === '') return 0;
  // The value is `significant` times ten to this power.
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  if (power >= 0 && significant.length + power <= INT64_DIGITS) {
    const integer = BigInt(sign + significant + '0'.repeat(power));
    const rounded = Number(integer);
    if (Number.isSafeInteger(rounded)) return rounded;
    if (integer >= MIN_INT64 && integer <= MAX_INT64) return integer;
  }
  if (significant.length > DOUBLE_DIGITS) return text;
  const double = Number(text);
  return Number.isFinite(double) && Math.abs(double) >= SMALLEST_NORMAL ? double : text;
}

/** A pattern such as `/0+$/` would take a time that grows with the square of the length. */
function withoutTrailingZeros(digits: string): string {
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  return digits.slice(0, length);
}
