import { isWritten, writtenBody, type WrittenKind } from '@carillon/configuration';
import {
  canonical,
  differencesOf,
  resourceKey,
  type Configuration,
  type Draft,
  type Resource,
  type ResourceRef,
} from '@carillon/domain/configuration';
import type { DraftConflictFact, JsonObject } from '@carillon/kernel';
import type { ConfigurationHistory } from '@carillon/stages';

/** `published`: what it wants counts already, as after a publisher that died before it removed the draft. */
export type DraftState = 'open' | 'conflict' | 'published';

export const resourceOf = (current: Configuration, ref: ResourceRef): Resource | undefined =>
  current.resources.get(resourceKey(ref));

/** Returns the body as people write it, as plain JSON. Null if there is no such resource. */
export const bodyOf = (resource: Resource | null | undefined): JsonObject | null =>
  resource && isWritten(resource) ? (JSON.parse(JSON.stringify(writtenBody(resource))) as JsonObject) : null;

export const numberNow = (current: Configuration, ref: ResourceRef): number | null =>
  resourceOf(current, ref)?.number ?? null;

/** Returns the state of a draft compared with the published configuration. */
export function stateOf(draft: Draft, current: Configuration): DraftState {
  const now = resourceOf(current, draft.ref);
  if (isSettled(draft.ref.kind as WrittenKind, draft.body, bodyOf(now))) return 'published';
  return (now?.number ?? null) === draft.basedOn ? 'open' : 'conflict';
}

function isSettled(kind: WrittenKind, wanted: JsonObject | null, there: JsonObject | null): boolean {
  if (wanted === null || there === null) return wanted === there;
  const whole = kind === 'notification' ? withIdentities(wanted, there) : wanted;
  return canonical(whole) === canonical(there);
}

/** Ids and paths are given when a notification is published, and are no difference where nobody wrote others. */
function withIdentities(wanted: JsonObject, there: JsonObject): JsonObject {
  const [rules, known] = [objectIn(wanted['rules']), objectIn(there['rules'])];
  if (!rules || !known) return { ...idsOf(there, ['id']), ...wanted };
  const filled = Object.entries(rules).map(([name, rule]) => {
    const [own, before] = [objectIn(rule), Object.hasOwn(known, name) ? objectIn(known[name]) : undefined];
    return [name, own && before ? { ...idsOf(before, ['id', 'path']), ...own } : rule] as const;
  });
  return { ...idsOf(there, ['id']), ...wanted, rules: Object.fromEntries(filled) };
}

const objectIn = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
const idsOf = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));

/**
 * Returns the conflict of a draft: its base, the current version and its own body, with every value in which they
 * differ.
 */
export function conflictOf(draft: Draft, current: Configuration, history: ConfigurationHistory): DraftConflictFact {
  const { ref, revision, basedOn, body: mine } = draft;
  const base = bodyOf(history.statesOf(ref).find(({ publication }) => publication.number === basedOn)?.resource);
  const theirs = bodyOf(resourceOf(current, ref));
  const paths = new Set(
    [
      [base, theirs],
      [base, mine],
      [theirs, mine],
    ].flatMap(([one, other]) => differencesOf(one ?? {}, other ?? {}).map(({ path }) => path)),
  );
  // If a path has a whole group on only one side, the path covers everything below it.
  const [ofTheirs, ofMine] = [theirs, mine].map((side) => byPath(base, side));
  return {
    ...ref,
    revision,
    base: { number: basedOn, body: base },
    theirs: { number: numberNow(current, ref), body: theirs },
    mine: { body: mine },
    fields: [...paths].toSorted().flatMap((path) => {
      const [their, own] = [ofTheirs?.get(path), ofMine?.get(path)];
      const before = their?.before ?? own?.before;
      if (!their && !own) return [];
      return [
        {
          path,
          base: textOf(before),
          theirs: textOf(their ? their.after : before),
          mine: textOf(own ? own.after : before),
        },
      ];
    }),
  };
}

const byPath = (base: JsonObject | null, side: JsonObject | null) =>
  new Map(differencesOf(base ?? {}, side ?? {}).map((difference) => [difference.path, difference]));

const textOf = (value: unknown): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);
