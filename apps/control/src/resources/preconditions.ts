import type { Resource, ResourceRef } from '@carillon/domain/configuration';
import { CarillonError, type NewerFact } from '@carillon/kernel';
import type { ConfigurationHistory } from '@carillon/stages';

/** Precondition of a write: a number of the resource that its author saw, or its absence. */
export type Precondition =
  | { readonly kind: 'numbers'; readonly numbers: readonly number[] }
  | { readonly kind: 'absent' };

export const etagOf = (number: number): string => `"${number}"`;

const ETAG = /^"(\d{1,15})"$/;
const HOW = 'send If-Match with the ETag that you read, or If-None-Match: * to make a new one';

/**
 * Returns the precondition of a write. Throws `precondition_required` without one, because the write could silently
 * undo another person's change.
 */
export function preconditionOf(headers: Readonly<Record<string, unknown>>): Precondition {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (typeof match === 'string' && typeof noneMatch === 'string') {
    throw new CarillonError('invalid_request', `If-Match and If-None-Match exclude each other here; ${HOW}`);
  }
  if (typeof noneMatch === 'string') {
    if (noneMatch.trim() === '*') return { kind: 'absent' };
    throw new CarillonError('invalid_request', `If-None-Match takes * here; ${HOW}`);
  }
  if (typeof match !== 'string') throw new CarillonError('precondition_required', HOW);
  const numbers = match.split(',').map((tag) => ETAG.exec(tag.trim())?.[1]);
  const known = numbers.flatMap((digits) => (digits === undefined ? [] : [Number(digits)]));
  if (known.length === numbers.length) return { kind: 'numbers', numbers: known };
  throw new CarillonError('invalid_request', `If-Match takes the ETag of the resource, such as "12"; ${HOW}`);
}

/** Throws `precondition_failed`, with the current version, if another writer was first. */
export function demandPrecondition(
  wanted: Precondition,
  ref: ResourceRef,
  now: Resource | undefined,
  history: ConfigurationHistory,
): void {
  const met = wanted.kind === 'absent' ? now === undefined : now !== undefined && wanted.numbers.includes(now.number);
  if (!met) throw lostRace(ref, now, history);
}

/** Returns the refusal of a lost race, with the current version, its author and time. */
export function lostRace(ref: ResourceRef, now: Resource | undefined, history: ConfigurationHistory): CarillonError {
  const newest = history.statesOf(ref).at(-1)?.publication;
  const title = `${ref.kind.replace('_', ' ')} ${ref.name === '' ? ref.workspace : ref.name}`.trim();
  const newer: NewerFact = {
    number: now?.number ?? null,
    at: newest?.at ?? null,
    by: newest ? { ...newest.by.actor } : null,
  };
  const who = newest ? ` by ${newest.by.actor.kind} ${newest.by.actor.id} at ${newest.at}` : '';
  const what =
    now === undefined
      ? newest
        ? `${title} was removed${who}; make it again with If-None-Match: *`
        : `there is no ${title}; make it with If-None-Match: *`
      : `${title} has number ${now.number}, published${who}; read it again, and send what you want with If-Match: ${etagOf(now.number)}`;
  return new CarillonError('precondition_failed', what, { newer });
}
