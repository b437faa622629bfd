import type { Json, JsonObject } from '@carillon/kernel';

/** Totals of a rule by their names, as people and templates see them: a number, or `500+` for a full total. */
export type ShownTotals = Readonly<Record<string, number | string>>;

/** Returns the totals as expressions see them: a full total as the number that it has reached. */
export const totalNumbers = (shown: ShownTotals): JsonObject =>
  Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, typeof value === 'number' ? value : Number.parseFloat(value)]),
  );

/** Reads totals that a record or a decision has. */
export function readTotals(value: Json | undefined): ShownTotals {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, number | string] => typeof entry[1] === 'number' || typeof entry[1] === 'string',
    ),
  );
}

/** Returns a sentence for each total. */
export const totalWords = (totals: ShownTotals): readonly string[] =>
  Object.entries(totals).map(([name, value]) => `totals.${name} is ${value}`);
