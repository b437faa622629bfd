import { readJson } from '@carillon/domain/events';
import { CarillonError, err, isJsonObject, parseInstant, type Instant, type Json, type Result } from '@carillon/kernel';

/** Limits of callback bodies, whose fields may be arbitrary. */
const LIMITS = { depth: 32, keys: 100_000 };
/** Reports in one callback (docs/internals/evidence.md). */
export const MAX_REPORTS = 2_000;

/** Parses the JSON of a callback. Never throws; the fault has its position. */
export function readCallback(bytes: Uint8Array): Result<Json, CarillonError> {
  const read = readJson(bytes, LIMITS);
  if (read.ok) return read;
  const { code, detail, ...facts } = read.error;
  return err(new CarillonError(code, detail, facts));
}

/** Returns the value at a path, or undefined. A number in the path is a list index. */
export function valueAt(json: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let value = json;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? (value as readonly Json[])[step] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** The text or number at a path, as text; empty where there is neither. */
export function textAt(json: Json | undefined, ...path: readonly (string | number)[]): string {
  const value = valueAt(json, ...path);
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : '';
}

/** The items of a list at a path; none where there is no list. */
export function listAt(json: Json | undefined, ...path: readonly (string | number)[]): readonly Json[] {
  const value = valueAt(json, ...path);
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** An RFC 3339 time, or seconds since 1970 with or without a fraction. */
export function timeAt(json: Json | undefined, ...path: readonly (string | number)[]): Instant | null {
  const text = textAt(json, ...path);
  const seconds = Number(text);
  if (Number.isNaN(seconds)) return parseInstant(text) ?? null;
  return seconds > 0 && seconds < 1e11 ? Math.round(seconds * 1000) : null;
}

/** A body that is not what the provider documents: the provider sends it again, and the operator reads why. */
export const unreadable = (detail: string): Result<never, CarillonError> =>
  err(new CarillonError('invalid_request', detail));

export const tooMany = (): Result<never, CarillonError> => {
  const limit = `${MAX_REPORTS} events`;
  return err(new CarillonError('body_too_large', `Send at most ${limit} in one request.`, { limit }));
};
