/** Maximum bytes of one field of a row. A larger field is left out and named as unknown. */
const MAX_FIELD_BYTES = 64 * 1024;
/** A text of so many characters is never larger. */
const SURELY_SMALL = MAX_FIELD_BYTES / 3;

/** Returns true if the text of a field is too large for the log. */
export const isFieldTooLarge = (text: string): boolean =>
  text.length > SURELY_SMALL &&
  (text.length > MAX_FIELD_BYTES || new TextEncoder().encode(text).length > MAX_FIELD_BYTES);
