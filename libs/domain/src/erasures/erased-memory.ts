import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';
import type { EntityMemory, KeptEvent, RuleMemory } from '../rules/memory/entity-memory.ts';
import { MAX_DECISIONS } from '../rules/memory/entity-memory.ts';
import type { ErasureMatcher } from './subject.ts';

/** Returns true for a kept event of the person, as the rules of its stream read it. */
export type IsOfPerson = (event: KeptEvent, entity: EntityMemory['entity']) => boolean;

/** Returns true if what a form keeps names the person, as a value or as the name of a value. */
const keepsPerson = (kept: Json, matcher: ErasureMatcher): boolean => {
  if (typeof kept === 'string') return matcher.isPerson(kept) || matcher.mentions(kept);
  if (Array.isArray(kept)) return (kept as readonly Json[]).some((item) => keepsPerson(item, matcher));
  if (!isJsonObject(kept)) return false;
  return Object.entries(kept).some(([name, item]) => keepsPerson(name, matcher) || keepsPerson(item, matcher));
};

/** Returns the entries that do not name the person. The same object if none does, and undefined if none is left. */
function entriesOfOthers(values: JsonObject, matcher: ErasureMatcher): JsonObject | undefined {
  if (!keepsPerson(values, matcher)) return values;
  const left = Object.entries(values).filter(([name, value]) => !keepsPerson({ [name]: value }, matcher));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/**
 * Returns what the forms of a rule keep, without the values of a form that name the person. A cooldown, and totals over other values, stay. The
 * same object if nothing names the person, and undefined if nothing is left.
 */
function keptWithoutPerson(kept: JsonObject, matcher: ErasureMatcher): JsonObject | undefined {
  if (!keepsPerson(kept, matcher)) return kept;
  const left = Object.entries(kept).flatMap(([form, values]) => {
    const others = isJsonObject(values) ? entriesOfOthers(values, matcher) : undefined;
    return others === undefined ? [] : [[form, others] as const];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/**
 * Returns a memory without events of the person. A wait that was made from such an event ends as `erased`. Totals and facts that name the
 * person are removed. Returns the same memory if it does not concern the person.
 */
export function eraseMemory(memory: EntityMemory, matcher: ErasureMatcher, isOfPerson: IsOfPerson): EntityMemory {
  const erased = new Set(
    Object.entries(memory.events).flatMap(([offset, event]) =>
      isOfPerson(event, memory.entity) ? [Number(offset)] : [],
    ),
  );
  const decisions = memory.decisions.map((decision) =>
    keepsPerson(decision.saw, matcher) ? { ...decision, form: null, saw: { kind: 'erased' } } : decision,
  );
  const rules: Record<string, RuleMemory> = {};
  for (const [ruleId, rule] of Object.entries(memory.rules)) {
    const { since, wait, kept } = rule;
    const isGone = wait !== undefined && erased.has(wait.event);
    if (isGone) {
      const event = memory.events[wait.event];
      if (event) {
        const at = decisions.at(-1)?.at ?? event.appendedAt;
        decisions.push({ record: memory.offset, at, ruleId, eventId: event.id, form: null, saw: { kind: 'erased' } });
      }
    }
    const previous = wait?.previous ?? null;
    const left = wait && { ...wait, previous: previous !== null && erased.has(previous) ? null : previous };
    const keptOfOthers = kept && keptWithoutPerson(kept, matcher);
    rules[ruleId] = {
      since,
      ...(left !== undefined && !isGone && { wait: left }),
      ...(keptOfOthers !== undefined && { kept: keptOfOthers }),
    };
  }
  const hasChanged =
    erased.size > 0 ||
    decisions.some((decision, at) => decision !== memory.decisions[at]) ||
    Object.entries(memory.rules).some(([ruleId, { kept }]) => kept !== rules[ruleId]?.kept);
  if (!hasChanged) return memory;
  return {
    ...memory,
    lastEvent: memory.lastEvent !== null && erased.has(memory.lastEvent) ? null : memory.lastEvent,
    events: Object.fromEntries(Object.entries(memory.events).filter(([offset]) => !erased.has(Number(offset)))),
    rules,
    decisions: decisions.slice(-MAX_DECISIONS),
  };
}
