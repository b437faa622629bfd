import { isJsonObject, type Json } from '@carillon/kernel';
import type { FieldStep } from '../events/field-path.ts';
import type { ErasureMatcher } from './subject.ts';

/** Returns true if a text or a name in a JSON value holds an address of the person. */
export function holdsAddress(value: Json, matcher: Pick<ErasureMatcher, 'mentions' | 'isPerson'>): boolean {
  if (typeof value === 'string') return matcher.mentions(value) || isToken(value, matcher);
  if (typeof value === 'number' || typeof value === 'bigint') return matcher.mentions(String(value));
  if (Array.isArray(value)) return (value as readonly Json[]).some((item) => holdsAddress(item, matcher));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, item]) => matcher.mentions(name) || holdsAddress(item, matcher));
}

/** A device token is any text. Shorter ones are names, which match only where a rule reads them. */
const SHORTEST_TOKEN = 24;
const isToken = (text: string, { isPerson }: Pick<ErasureMatcher, 'isPerson'>): boolean =>
  text.length >= SHORTEST_TOKEN && isPerson(text);

/** Returns true if the value at a path names the person. A path through a list names each of its items. */
export function namesPersonAt(
  value: Json,
  steps: readonly FieldStep[],
  matcher: Pick<ErasureMatcher, 'isPerson'>,
): boolean {
  const [step, ...rest] = steps;
  if (step === undefined) {
    if (Array.isArray(value)) return (value as readonly Json[]).some((item) => namesPersonAt(item, [], matcher));
    if (typeof value === 'string') return matcher.isPerson(value);
    return (typeof value === 'number' || typeof value === 'bigint') && matcher.isPerson(String(value));
  }
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    if (typeof step === 'number') return step < items.length && namesPersonAt(items[step] ?? null, rest, matcher);
    return items.some((item) => namesPersonAt(item, step === null ? rest : steps, matcher));
  }
  if (typeof step !== 'string' || !isJsonObject(value) || !Object.hasOwn(value, step)) return false;
  return namesPersonAt(value[step] ?? null, rest, matcher);
}

const WORDS = /[^\s,;"'()[\]{}<>]+/g;

/** Returns true if words that a program wrote hold an address of the person, or a name of the person as a word. */
export const wordsName = (text: string, matcher: Pick<ErasureMatcher, 'isPerson' | 'mentions'>): boolean =>
  matcher.mentions(text) || (text.match(WORDS) ?? []).some((word) => matcher.isPerson(word));
