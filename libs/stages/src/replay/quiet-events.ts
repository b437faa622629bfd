import { createFieldReader, type FieldReader, type SourceEvent } from '@carillon/domain/events';
import {
  bindingsOf,
  DISABLED,
  EventBudget,
  NOT_FIRED,
  OTHER_CHANGE,
  outcomeWithoutFiring,
} from '@carillon/domain/rules';
import type { LogId } from '@carillon/kernel';
import type { LogRecord } from '@carillon/ports';
import { readEventFields, streamOfRecord } from '../append/source-record.ts';
import type { BookRule } from '../evaluate/rule-book.ts';
import type { CompareContext } from './compare-event.ts';

/** Returns true for an event of which neither side of a comparison makes anything, and which counts nowhere but as an event. */
export type QuietEvents = (record: LogRecord) => boolean;

/** The rules of a stream on each side, and a reader of the fields that their conditions name. */
type ReadStream = { readonly sides: readonly (readonly BookRule[])[]; readonly readFields: FieldReader | null };

/**
 * Makes a check that evaluates the conditions of both sides over the fields that they name, and reads no more of the event. If it returns
 * false, the event has to be read and evaluated whole: a condition holds or fails, or the fields say too little.
 */
export function findQuietEvents(
  { book, configurations }: Pick<CompareContext, 'book' | 'configurations'>,
  logId: LogId,
): QuietEvents {
  const streams = new Map<string, ReadStream>();
  const readOf = (stream: string): ReadStream => {
    let known = streams.get(stream);
    if (!known) {
      const sides = [configurations.before, configurations.after].map((side) => book.rulesOf(side, stream));
      const names = conditionFields(sides.flat());
      known = { sides, readFields: names && createFieldReader(names) };
      streams.set(stream, known);
    }
    return known;
  };
  return (record) => {
    const stream = streamOfRecord(record);
    if (stream === null) return false;
    const { sides, readFields } = readOf(stream);
    const event = readFields && readEventFields(record, logId, readFields);
    return event !== null && sides.every((rules) => firesNothing(event, rules));
  };
}

/** Returns the names of the fields of an event that the conditions of rules use. Null if a rule uses the whole event. */
function conditionFields(rules: readonly BookRule[]): readonly string[] | null {
  const names = new Set<string>();
  for (const entry of rules) {
    if (!entry.ok || entry.rule.memory) return null;
    for (const { root, steps } of entry.rule.when.fields) {
      if (root !== 'event') continue;
      const [name] = steps;
      if (typeof name !== 'string') return null;
      names.add(name);
    }
  }
  return [...names];
}

/** Returns true if no rule fires for an event or fails. The rules share the step budget of the event. */
function firesNothing(event: SourceEvent, entries: readonly BookRule[]): boolean {
  const bindings = bindingsOf(event);
  const budget = new EventBudget();
  return entries.every((entry) => {
    const outcome = entry.ok ? outcomeWithoutFiring(entry.rule, bindings, budget.nextRule()) : null;
    return outcome === NOT_FIRED || outcome === OTHER_CHANGE || outcome === DISABLED;
  });
}
