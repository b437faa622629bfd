import { addressKind, isAddressKind } from '@carillon/domain/channels';
import type { FieldStep } from '@carillon/domain/events';
import { formatInstant, isJsonObject, type Instant, type Json, type JsonObject } from '@carillon/kernel';
import type { FieldType } from './minimum-fields.ts';

/** A field of a sample event: its value, a placeholder, or that it must be absent. */
export type ShapeField = {
  readonly steps: readonly FieldStep[];
  readonly type: FieldType | null;
  readonly value?: Json;
  readonly absent?: boolean;
};

const LONGEST_LIST = 20;

/** Values of the fields that most events have. The person goes with the example addresses. */
const EXAMPLES: Readonly<Record<string, string>> = {
  first_name: 'Ada',
  full_name: 'Ada Lovelace',
  last_name: 'Lovelace',
  order_id: 'A-1001',
  order_number: 'A-1001',
};
/** Objects whose `name` is a person's, as in `customer.name`. The example does not suit others, such as `product.name`. */
const PEOPLE =
  /^(?:(?:customer|user|person|recipient|member|buyer|guest|contact|subscriber|watcher|follower)s?|people)$/;

function exampleText(steps: readonly FieldStep[]): string | undefined {
  const [name = '', holder = ''] = steps.filter((step) => typeof step === 'string').toReversed();
  if (name === 'name' && PEOPLE.test(holder)) return 'Ada';
  return Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined;
}

/**
 * Returns a value for a field whose value is unknown: an example if the field is well known, else a value of its type. A text is the
 * name of the field in angle brackets. `steps` is the path of the field in the event.
 */
export function placeholder(type: FieldType | null, steps: readonly FieldStep[], now: Instant): Json {
  if (isAddressKind(type)) return addressKind(type).example;
  const name = nameOf(steps);
  switch (type) {
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [`<${name}>`];
    case 'object':
      return {};
    case 'time':
      return formatInstant(now);
    case 'null':
    case 'string':
    case null:
      return exampleText(steps) ?? `<${name}>`;
  }
}

/** The name by which people know a field: the last one of its path. */
export const nameOf = (steps: readonly FieldStep[]): string =>
  steps.findLast((step) => typeof step === 'string') ?? 'value';

/** The smallest event that has these fields. A list has as many elements as an index asks for, else one. */
export function buildEvent(fields: readonly ShapeField[], now: Instant): JsonObject {
  const built = build(fields, [], now);
  return isJsonObject(built) ? built : {};
}

/** `at`: the path of what is built. */
function build(fields: readonly ShapeField[], at: readonly FieldStep[], now: Instant): Json | undefined {
  const own = fields.filter(({ steps }) => steps.length === 0);
  if (own.some(({ absent }) => absent)) return undefined;
  const set = own.find(({ value }) => value !== undefined);
  if (set) return set.value;
  const inner = fields.filter(({ steps }) => steps.length > 0);
  const within = (taken: (step: FieldStep) => boolean): readonly ShapeField[] =>
    inner.flatMap(({ steps: [step = null, ...steps], ...field }) => (taken(step) ? [{ ...field, steps }] : []));
  const names = new Set(inner.map(({ steps }) => steps[0]).filter((step) => typeof step === 'string'));
  if (names.size > 0) {
    const entries = [...names].map(
      (one) =>
        [
          one,
          build(
            within((step) => step === one),
            [...at, one],
            now,
          ),
        ] as const,
    );
    return objectOf(entries);
  }
  if (inner.length > 0) {
    const last = Math.max(0, ...inner.map(({ steps }) => (typeof steps[0] === 'number' ? steps[0] : 0)));
    const length = Math.min(last + 1, LONGEST_LIST);
    return Array.from({ length }, (_, place) => {
      const here = within((step) => step === null || step === place);
      return here.length > 0 ? (build(here, [...at, place], now) ?? null) : null;
    });
  }
  return placeholder(own.find(({ type }) => type !== null)?.type ?? null, at, now);
}

function objectOf(entries: readonly (readonly [string, Json | undefined])[]): JsonObject {
  const there = entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return Object.fromEntries(there);
}

/** Reduces an event to these fields. A field with a given value gets that value. */
export function pruneEvent(event: JsonObject, fields: readonly ShapeField[]): JsonObject {
  const pruned = prune(event, fields);
  return isJsonObject(pruned) ? pruned : {};
}

function prune(value: Json | undefined, fields: readonly ShapeField[]): Json | undefined {
  const own = fields.filter(({ steps }) => steps.length === 0);
  const set = own.find((field) => field.value !== undefined);
  if (set) return set.value;
  const inner = fields.filter(({ steps }) => steps.length > 0);
  if (value === undefined || inner.length === 0) return value;
  const within = (name: string | number): readonly ShapeField[] =>
    inner.flatMap(({ steps: [step = null, ...steps], ...field }) =>
      step === name || (step === null && typeof name === 'number') ? [{ ...field, steps }] : [],
    );
  if (isJsonObject(value)) {
    const names = new Set(inner.map(({ steps }) => steps[0]).filter((step) => typeof step === 'string'));
    return objectOf([...names].map((name) => [name, prune(ownValue(value, name), within(name))] as const));
  }
  if (!Array.isArray(value)) return value;
  return value.map((item: Json, at) => (within(at).length > 0 ? (prune(item, within(at)) ?? null) : null));
}

const ownValue = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** The value at a path, in lists that of the first element. */
export function valueAt(value: Json | undefined, steps: readonly FieldStep[]): Json | undefined {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (typeof step === 'string') return isJsonObject(value) ? valueAt(ownValue(value, step), rest) : undefined;
  return Array.isArray(value) ? valueAt((value as readonly Json[])[step ?? 0], rest) : undefined;
}
