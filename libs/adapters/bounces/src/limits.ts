/** limits-and-errors.md 2.7: of one mail. */
export const MAX_BOUNCE_BYTES = 256 * 1024;
