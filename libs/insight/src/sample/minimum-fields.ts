import { ADDRESS_KINDS, type AddressKind } from '@carillon/domain/channels';
import type { EventStream } from '@carillon/domain/configuration';
import { pathText, stepsOf, type FieldStep, type JsonType } from '@carillon/domain/events';
import { hasTotals, type CompiledRule, type Expression, type RequiredField } from '@carillon/domain/rules';
import type { TemplateField } from '@carillon/ports';

export type FieldType = JsonType | 'time' | AddressKind;

/** A field that an event needs for a rule, its templates or its stream to find what they look for. */
export type MinimumField = {
  readonly path: string;
  readonly steps: readonly FieldStep[];
  /** Null where any value does. */
  readonly type: FieldType | null;
  /** Where it is used: `when`, `to.email`, `template`, `key`. */
  readonly usedBy: readonly string[];
};

export type Minimum = {
  /** Null if the rule has no stream. */
  readonly stream: EventStream | null;
  readonly fields: readonly MinimumField[];
  /** Where the event is used as a whole, so that no list of fields is the minimum. */
  readonly whole: readonly string[];
  /** Names of templates that the partner's answer is expected to give, since no event was seen to have them. */
  readonly answered: readonly string[];
};

/** Fields that a template needs, as the renderer lists them. */
export type TemplateNeeds = { readonly fields: readonly TemplateField[]; readonly all: boolean };

export type Used = { readonly steps: readonly FieldStep[]; readonly type: FieldType | null; readonly by: string };

/**
 * Returns the event fields that a rule, its templates and its stream use, each once, in the rule's order. `seen`:
 * fields of past events, for otherwise unknown types.
 */
export function minimumFields(
  rule: CompiledRule,
  stream: EventStream | undefined,
  templates: readonly TemplateNeeds[],
  seen: ReadonlyMap<string, readonly JsonType[]> = new Map(),
): Minimum {
  const needed = templateFields(rule, templates);
  // The variables of a lookup's answer are unknown. Names that events have count as names of the event.
  const isAnswered = ({ steps }: Used): boolean => rule.from === 'lookup' && !seen.has(pathText(steps.slice(0, 1)));
  const used = [...streamFields(stream), ...ruleFields(rule), ...needed.filter((one) => !isAnswered(one))];
  const fields = new Map<string, MinimumField>();
  for (const { steps, type, by } of used.filter((one) => one.steps.length > 0)) {
    const path = pathText(steps);
    const known = fields.get(path);
    const usedBy = known?.usedBy ?? [];
    fields.set(path, {
      path,
      steps,
      type: moreExact(known?.type ?? null, type),
      usedBy: usedBy.includes(by) ? usedBy : [...usedBy, by],
    });
  }
  const whole = used.filter((one) => one.steps.length === 0).map((one) => one.by);
  if (templates.some((one) => one.all)) whole.push('template');
  const typed = [...fields.values()].map((field) => ({ ...field, type: field.type ?? seenType(seen.get(field.path)) }));
  const answered = needed.filter(isAnswered).map(({ steps }) => pathText(steps.slice(0, 1)));
  return { stream: stream ?? null, fields: typed, whole: [...new Set(whole)], answered: [...new Set(answered)] };
}

/** The one type that was seen, besides null. */
function seenType(types: readonly JsonType[] = []): JsonType | null {
  const [only, ...others] = types.filter((type) => type !== 'null');
  return others.length === 0 ? (only ?? null) : null;
}

/** An address or a time is a string too, and says more. */
const moreExact = (known: FieldType | null, found: FieldType | null): FieldType | null =>
  known === null || (known === 'string' && found !== null) ? found : known;

/**
 * Returns the fields that the stream itself reads: its key, its time, and the fields that token claims are compared
 * with.
 */
export function streamFields(stream: EventStream | undefined): Used[] {
  if (!stream) return [];
  const at = (path: string | null | undefined, type: FieldType | null, by: string): Used[] => {
    const steps = path ? stepsOf(path) : null;
    return steps ? [{ steps, type, by }] : [];
  };
  return [
    ...at(stream.key, null, 'key'),
    // Each table or topic has a separate key. The sample uses the first.
    ...at(Object.values(stream.from?.tables ?? stream.from?.topics ?? {})[0], null, 'key'),
    ...at(stream.time, 'time', 'time'),
    ...Object.values(stream.security.claims ?? {}).flatMap((path) => at(path, null, 'security')),
  ];
}

/** The expressions of a rule, in the order in which they are evaluated. */
function expressionsOf(rule: CompiledRule): readonly (readonly [by: string, expression: Expression])[] {
  const unique = rule.uniqueId === 'event_id' || rule.uniqueId === 'trigger_id' ? null : rule.uniqueId;
  const own: readonly (readonly [string, Expression | null])[] =
    rule.from === 'lookup'
      ? [
          ['unique_id', unique],
          ['person', rule.person],
          ['user_ids', rule.userIds],
        ]
      : [
          ['for_each', rule.forEach],
          ...ADDRESS_KINDS.map((kind) => [`to.${kind}`, rule.to[kind]] as const),
          ['unique_id', unique],
          ['person', rule.person],
          ...rule.variables.map(([name, value]) => [`variables.${name}`, value] as const),
        ];
  const ofForms = rule.memory?.forms.flatMap(({ expressions }) => expressions) ?? [];
  const named: readonly (readonly [string, Expression | null])[] = [
    ['when', rule.when],
    ...ofForms,
    ...own,
    ['where', rule.where],
  ];
  return named.flatMap(([by, expression]) => (expression ? [[by, expression] as const] : []));
}

const ADDRESSES: Readonly<Record<string, FieldType>> = Object.fromEntries(
  ADDRESS_KINDS.map((kind) => [`to.${kind}`, kind]),
);

function ruleFields(rule: CompiledRule): Used[] {
  return expressionsOf(rule).flatMap(([by, { fields }]) =>
    fields.flatMap((field): Used[] => {
      const steps = eventSteps(rule, field);
      if (steps === null) return [];
      // Behind a computed index is more than can be said.
      if (field.dynamic) return [{ steps, type: 'object', by }];
      return [{ steps, type: ADDRESSES[by] ?? field.type, by }];
    }),
  );
}

/**
 * Returns the path of a field in the event: a field of `item` belongs to an element of the `for_each` list. Null if it
 * is not in the event.
 */
export function eventSteps(rule: CompiledRule, { root, steps }: RequiredField): readonly FieldStep[] | null {
  if (root === 'event') return steps;
  if (root !== 'item') return null;
  const forEach = rule.from === 'event' ? rule.forEach : null;
  const list = forEach?.fields.find((field) => field.root === 'event' && field.type === 'array');
  return list ? [...list.steps, null, ...steps] : null;
}

/** A variable of the rule stands before a field of the same name. Totals come from the rule. */
function templateFields(rule: CompiledRule, templates: readonly TemplateNeeds[]): Used[] {
  const given = new Set<FieldStep | undefined>(rule.from === 'event' ? rule.variables.map(([name]) => name) : []);
  if (hasTotals(rule)) given.add('totals');
  return templates
    .flatMap((one) => one.fields)
    .filter(({ steps }) => !given.has(steps[0]))
    .map(({ steps, type }) => ({ steps, type, by: 'template' }));
}
