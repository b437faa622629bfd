import type { CaseFile, PlacedStep, RuleCase } from '@carillon/configuration';
import type { RuleTestBody } from '@carillon/contracts';
import { testRule, type RuleTestPorts } from '@carillon/control';
import { streamTable, type EventStream, type PlacedRule } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import { attributionOf, findPartner } from '@carillon/domain/lookups';
import type { CompiledRule } from '@carillon/domain/rules';
import { keyPathOf, readMoment, readWrittenEvent, withEntity } from '@carillon/insight';
import {
  CarillonError,
  formatInstant,
  isCarillonError,
  isJsonObject,
  stringifyJson,
  type EventId,
  type Instant,
  type Json,
  type JsonObject,
} from '@carillon/kernel';
import {
  compareMessages,
  messagesOf,
  type Difference,
  type MessageFields,
  type TimedMessage,
} from './compare-messages.ts';

/** Result of a case. A case with a fault did not run. */
export type CaseResult = {
  readonly file: CaseFile;
  readonly ruleCase: RuleCase;
  readonly differences: readonly Difference[];
  readonly timeline: RuleTestBody['timeline'];
  readonly fault: { readonly line: number; readonly column: number; readonly message: string } | null;
};

/** The day of a clock time such as 10:00: a Monday. */
const DAY = Date.UTC(2026, 0, 5);

class LineFault extends Error {
  readonly step: PlacedStep;
  constructor(step: PlacedStep, message: string) {
    super(message);
    this.step = step;
  }
}

/** Runs the events of a case with a virtual clock, and compares the messages. */
export async function runCase(
  file: CaseFile,
  ruleCase: RuleCase,
  rule: CompiledRule,
  ports: RuleTestPorts,
): Promise<CaseResult> {
  const shown = { file, ruleCase, differences: [], timeline: [], fault: null };
  try {
    const script = readSteps(file, ruleCase, rule.placed, ports);
    if (script.events.length === 0) throw new LineFault(firstOf(ruleCase), 'a case needs an event');
    const answer = answersOf(file, rule.placed, ports);
    const tested = await testRule(rule, { ...script, memories: [] }, { from: 'file', answer }, ports);
    const differences = compareMessages(script.expected, messagesOf(tested));
    return { ...shown, differences, timeline: tested.timeline };
  } catch (error) {
    const fault = faultOf(error, ruleCase);
    if (fault === null) throw error;
    return { ...shown, fault };
  }
}

function faultOf(error: unknown, ruleCase: RuleCase): CaseResult['fault'] {
  if (error instanceof LineFault) return { ...error.step.place, message: error.message };
  return isCarillonError(error) ? { ...ruleCase.place, message: error.detail } : null;
}

function firstOf({ steps }: RuleCase): PlacedStep {
  const [first] = steps;
  if (!first) throw new Error('a case has a line');
  return first;
}

type Script = {
  readonly events: readonly SourceEvent[];
  readonly expected: readonly TimedMessage[];
  readonly until: Instant;
};

function readSteps(
  { file }: CaseFile,
  { name, steps }: RuleCase,
  placed: PlacedRule,
  { configuration, ids }: Pick<RuleTestPorts, 'configuration' | 'ids'>,
): Script {
  const stream = streamTable(configuration.current()).streams.get(placed.stream) ?? null;
  const events: SourceEvent[] = [];
  const expected: TimedMessage[] = [];
  let first: Instant | null = null;
  let last: Instant = DAY;
  for (const [index, step] of steps.entries()) {
    const at = instantOf(step, first ?? DAY, last);
    if (first !== null && at < last) {
      throw new LineFault(step, `${formatInstant(at)} is before the line above. Write lines in the order of time`);
    }
    first ??= at;
    last = at;
    if (step.event) {
      const id = ids.derive('event', file, name, String(index)) as EventId;
      events.push(readEvent(step, { placed, stream, at, id }));
    }
    if (step.message) expected.push({ at: formatInstant(at), fields: fieldsOf(step.message) });
  }
  return { events, expected, until: last };
}

const fieldsOf = (message: Readonly<Record<string, string | undefined>>): MessageFields =>
  Object.fromEntries(Object.entries(message).map(([name, value]) => [name, value ?? null]));

function instantOf(step: PlacedStep, first: Instant, last: Instant): Instant {
  if (step.at !== undefined && step.until !== undefined) throw new LineFault(step, 'until has no at beside it');
  const text = step.at ?? step.until;
  if (text === undefined) return last;
  const moment = readMoment(text, first);
  if (moment.ok) return moment.value;
  throw new LineFault(step, `${step.at === undefined ? 'until' : 'at'}: ${moment.error}`);
}

type ReadFor = {
  readonly placed: PlacedRule;
  readonly stream: EventStream | null;
  readonly at: Instant;
  readonly id: EventId;
};

function readEvent(step: PlacedStep, of: ReadFor): SourceEvent {
  const { event, op, previous } = step;
  const written = {
    event: jsonText(event ?? {}),
    ...(op !== undefined && { op }),
    ...(previous !== undefined && { previous: previous === null ? 'null' : jsonText(previous) }),
  };
  const read = readWrittenEvent(written, of);
  if (!read.ok) throw new LineFault(step, `${read.error.field}: ${read.error.detail}`);
  const keyed = withEntity(read.value, of.placed, of.stream);
  const path = keyPathOf(of.placed, of.stream, keyed);
  if (keyed.key === null && path !== null) throw new LineFault(step, `event: this stream needs its key at ${path}`);
  return keyed;
}

/** YAML gives plain values only: text, numbers, booleans, null, lists and keys. */
const jsonText = (value: Readonly<Record<string, unknown>>): string => stringifyJson(value as JsonObject);

/** Returns what the file answers for a partner, by user id. Throws CarillonError if the file has no answers of it. */
function answersOf(
  { lookups = {} }: CaseFile,
  { workspace }: PlacedRule,
  { configuration }: Pick<RuleTestPorts, 'configuration'>,
): (integration: string, userIds: readonly string[]) => readonly Json[] {
  return (integration, userIds) => {
    const people = lookups[integration];
    if (people === undefined) {
      const example = `lookups: { ${integration}: { "${userIds[0] ?? 'id'}": { to: { email: … } } } }`;
      throw new CarillonError('invalid_request', `the rule asks ${integration}. Write its answers: ${example}`);
    }
    const partner = findPartner(configuration.current(), { workspace, integration });
    const how = partner && attributionOf(partner);
    return userIds.flatMap((id): Json[] => {
      const person = (Object.hasOwn(people, id) ? people[id] : null) as JsonObject | null | undefined;
      if (person === null || person === undefined) return how?.kind === 'in_order' ? [null] : [];
      return [how?.kind === 'match' ? withUserId(person, how.path, id) : person];
    });
  };
}

/** Writes the user id where the partner's answer names it, as with `match: variables.user_id`. */
function withUserId(person: JsonObject, [step, ...rest]: readonly string[], id: string): JsonObject {
  if (step === undefined) return person;
  const inner = person[step];
  if (rest.length === 0) return { [step]: id, ...person };
  return { ...person, [step]: withUserId(isJsonObject(inner) ? inner : {}, rest, id) };
}
