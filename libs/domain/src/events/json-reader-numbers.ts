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
