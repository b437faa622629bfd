/** Bytes of one mail (docs/internals/evidence.md). */
export const MAX_BOUNCE_BYTES = 256 * 1024;
