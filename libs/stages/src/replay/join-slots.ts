import type { ShownTotals } from '@carillon/domain/rules';
import { dayOf, type DifferentSlot, type Difference, type Line } from '@carillon/domain/runs';

/** A slot that at least one side wants. `unchanged` has no row. */
export type ComparedSlot = Omit<DifferentSlot, 'difference'> & { readonly difference: Difference };

/** Names a rule as people see it: `notification.rule`. */
export type RuleTitleOf = (ruleId: string) => string;

/**
 * Joins lines that are ordered by slot, and yields a slot with its difference after the last line of each. It keeps two lines at a
 * time, so a slot may have any number of lines. A slot of *before* whose message has another slot on *after* is not
 * yielded: the new slot has the row.
 */
export function* joinSlots(lines: Iterable<Line>, titleOf: RuleTitleOf): Generator<ComparedSlot> {
  let before: Line | null = null;
  let after: Line | null = null;
  for (const line of lines) {
    const current = before ?? after;
    if (current && current.slot !== line.slot) {
      yield* compared(before, after, titleOf);
      before = null;
      after = null;
    }
    if (line.side === 'before') before = firstOf(before, line);
    else after = firstOf(after, line);
  }
  yield* compared(before, after, titleOf);
}

/** Returns the line of the event that was appended first; at the same time, of the smaller event id. */
function firstOf(known: Line | null, line: Line): Line {
  if (!known) return line;
  if (known.at !== line.at) return known.at < line.at ? known : line;
  if (known.eventId !== line.eventId) return known.eventId < line.eventId ? known : line;
  // Two events with the same id and append time: the rows would differ only in position and content.
  return known.content <= line.content ? known : line;
}

function* compared(before: Line | null, after: Line | null, titleOf: RuleTitleOf): Generator<ComparedSlot> {
  const line = after ?? before;
  if (!line) return;
  const difference = differenceOf(before, after);
  if (difference === null) return;
  const { slot, ruleId, channel, eventId, position, at, totals, person } = line;
  const oldSlot = difference === 'new_unique_id' ? line.otherSlot : null;
  const rule = titleOf(ruleId);
  const isCold = before?.isCold === true || after?.isCold === true;
  const atBefore = before && before.at !== at ? { atBefore: before.at } : {};
  const totalsBefore = before?.totals && !isSameTotals(before.totals, totals) ? { totalsBefore: before.totals } : {};
  const facts = { slot, difference, oldSlot, ruleId, rule, channel, eventId, position, at, day: dayOf(at), person };
  yield { ...facts, ...atBefore, ...(totals && { totals }), ...totalsBefore, ...(isCold && { isCold }) };
}

const isSameTotals = (a: ShownTotals, b: ShownTotals | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Null: the slot is the old slot of a message that has a new one. */
function differenceOf(before: Line | null, after: Line | null): Difference | null {
  if (before && after) return before.content === after.content ? 'unchanged' : 'changed';
  if (after) return after.otherSlot === null ? 'added' : 'new_unique_id';
  return before?.otherSlot === null ? 'removed' : null;
}
