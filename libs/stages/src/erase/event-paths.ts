import { MEMBER } from '@carillon/domain/cohorts';
import { streamTable, tablesOf, topicsOf, type Configuration } from '@carillon/domain/configuration';
import { pathText, type FieldStep } from '@carillon/domain/events';
import type { CompiledRule, Expression } from '@carillon/domain/rules';
import type { RuleBook } from '../evaluate/rule-book.ts';

export type PersonPaths = {
  /** Paths of an event that rules read for `person`, `user_ids` or `unique_id`. */
  readonly paths: readonly (readonly FieldStep[])[];
  /** True if the key of the stream is one of them, so that an entity may be a person. */
  readonly isKey: boolean;
};

const NO_PATHS: PersonPaths = { paths: [], isKey: false };

/** Returns where events of a stream name people. Paths of rules that cannot be compiled are unknown. */
export function personPaths(book: RuleBook, configurations: readonly Configuration[], stream: string): PersonPaths {
  const found = new Map<string, readonly FieldStep[]>();
  let isKey = false;
  for (const configuration of configurations) {
    for (const entry of book.rulesOf(configuration, stream)) {
      if (!entry.ok) continue;
      for (const steps of pathsOf(entry.rule)) found.set(pathText(steps), steps);
    }
    isKey ||= keysOf(configuration, stream).some((key) => found.has(key.replace(/^event\./, '')));
  }
  return found.size === 0 ? NO_PATHS : { paths: [...found.values()], isKey };
}

/** Returns the paths of keys on a stream: its own, and those of its tables and topics. Entities of a cohort are its members. */
function keysOf(configuration: Configuration, path: string): readonly string[] {
  const stream = streamTable(configuration).streams.get(path);
  if (stream === undefined) return [MEMBER];
  const places = [...tablesOf(stream), ...topicsOf(stream)];
  return [...(stream.key === null ? [] : [stream.key]), ...places.map(({ key }) => key)];
}

function pathsOf(rule: CompiledRule): readonly (readonly FieldStep[])[] {
  const { person, uniqueId } = rule;
  const expressions = [
    person,
    typeof uniqueId === 'string' ? null : uniqueId,
    rule.from === 'lookup' ? rule.userIds : null,
  ];
  const lists = rule.from === 'event' && rule.forEach ? eventPaths(rule.forEach) : [];
  return expressions.flatMap((expression) => {
    if (expression === null) return [];
    const ofItems = expression.fields.flatMap(({ root, steps }) =>
      root === 'item' ? lists.map((list) => [...list, null, ...steps]) : [],
    );
    return [...eventPaths(expression), ...ofItems];
  });
}

const eventPaths = ({ fields }: Expression): readonly (readonly FieldStep[])[] =>
  fields.flatMap(({ root, steps }) => (root === 'event' && steps.length > 0 ? [steps] : []));
