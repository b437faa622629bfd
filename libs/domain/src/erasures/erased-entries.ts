import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '@carillon/kernel';
import type { Consents } from '../consent/consents.ts';
import { readMemory, type EntityMemory } from '../rules/memory/entity-memory.ts';
import { eraseMemory, type IsOfPerson } from './erased-memory.ts';
import { hashedEntry } from './hashed-entry.ts';
import type { ErasureMatcher } from './subject.ts';
import { holdsAddress } from './texts.ts';

/** Returns true if an entry that stands under a name is of the person: by the name, or by an address in the entry. */
export const isEntryOf = (name: string, entry: Json, matcher: ErasureMatcher): boolean =>
  matcher.isPerson(name) || holdsAddress(entry, matcher);

export type MemoryJudge = {
  readonly matcher: ErasureMatcher;
  readonly isOfPerson: IsOfPerson;
  readonly isEntityOfPerson: (entity: EntityMemory['entity']) => boolean;
};

/**
 * Returns what becomes of the state of an entity: null if it does not concern the person, `removed` if the entity is the person, or the memory
 * that is left.
 */
export function eraseState(
  data: string,
  offset: number,
  { matcher, isOfPerson, isEntityOfPerson }: MemoryJudge,
): null | 'removed' | EntityMemory {
  // An entity that a person had forgotten has no name there.
  if (data === '') return null;
  const memory = readMemory(data, offset);
  if (!matcher.covers(memory.entity.workspace)) return null;
  if (isEntityOfPerson(memory.entity)) return 'removed';
  const erased = eraseMemory(memory, matcher, isOfPerson);
  return erased === memory ? null : erased;
}

/** Fields of an asking that name people, emptied. */
const EMPTY_ASKING = { trigger: null, evidence: [], verdict: null } as const;

/** Returns a question to a partner without what it holds of the person, ended. Null if it does not concern the person. */
export function eraseAsking(asking: Json, matcher: ErasureMatcher): JsonObject | null {
  if (!isJsonObject(asking)) return null;
  const trigger = asking['trigger'] ?? null;
  const ids = isJsonObject(trigger) ? trigger['userIds'] : [];
  const isAsked = Array.isArray(ids) && ids.some((id) => typeof id === 'string' && matcher.isPerson(id));
  if (!isAsked && !holdsAddress(asking, matcher)) return null;
  const ended = asking['ended'] ?? { kind: 'parked', reason: 'erased', deadLetterId: null };
  return { ...asking, ...EMPTY_ASKING, ended };
}

/** Returns what a person said under another name. */
export function renamedConsents(consents: Consents, { nameInstead }: ErasureMatcher): Consents {
  const person = nameInstead(consents.person);
  const renamed = (words: Consents['words']): Consents['words'] => words.map((word) => hashedEntry(word, nameInstead));
  const { hash: _, ...facts } = consents;
  return { ...facts, person, words: renamed(consents.words), unpublished: renamed(consents.unpublished) };
}

/** Returns items of a job with another name in the place of the person's, so that an undo takes back the entry that was kept. Null: no item names the person. */
export function eraseJobItems(items: Json, matcher: ErasureMatcher): readonly Json[] | null {
  if (!Array.isArray(items)) return null;
  const before = items as readonly Json[];
  const after = before.map((item) => (typeof item === 'string' ? erasedItem(item, matcher) : item));
  return after.every((item, at) => item === before[at]) ? null : after;
}

function erasedItem(item: string, matcher: ErasureMatcher): string {
  const rename = (value: Json): Json => {
    if (typeof value === 'string') return matcher.isPerson(value) ? matcher.nameInstead(value) : value;
    if (Array.isArray(value)) return (value as readonly Json[]).map(rename);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rename(part)]));
  };
  if (matcher.isPerson(item)) return matcher.nameInstead(item);
  if (!item.startsWith('{') && !item.startsWith('[')) return item;
  const before = parseJson(item);
  const after = stringifyJson(rename(before));
  return after === stringifyJson(before) ? item : after;
}
