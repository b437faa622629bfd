/** Limits of the names and levels of a JSON value. */
export type JsonLimits = {
  readonly depth: number;
  readonly keys: number;
  /** A number that neither 64 bits nor the 15 digits of a double hold is read as its text, and none is refused. */
  readonly exactNumbers?: boolean;
  /** The names of FORBIDDEN_NAMES are read too. Objects have no prototype, so that they are only names. */
  readonly anyName?: boolean;
  /** Collects the numbers that are read as their text, so that they can be told from strings. */
  readonly numberTexts?: Set<string>;
};
/** Limits of a body, including the bytes of its text. */
export type BodyLimits = JsonLimits & { readonly bytes: number };

/** Names that no object may have, because they mean something to JavaScript. */
export const FORBIDDEN_NAMES: readonly string[] = ['__proto__', 'constructor'];

/**
 * Limits of an event. The intake and the log's readers use the same ones, so that an accepted event can be read again. An order of a shop
 * system with 12 lines has 2,100 fields. docs/limits-per-client.md says what 20,000 cost.
 */
export const EVENT_LIMITS: BodyLimits = { bytes: 256 * 1024, depth: 32, keys: 20_000 };

/** Limits of the whole record of a change, in which `event` and `previous` are one level deep. */
export const CHANGE_LIMITS: BodyLimits = { bytes: 1024 * 1024, depth: 32, keys: 20_000 };
