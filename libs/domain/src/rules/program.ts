import { DEFAULTS } from '@carillon/shapes/values';
import { err, ok, type Result } from '@carillon/kernel';
import type { ChangeOp } from '../changes/change.ts';
import { conditionOf, userIdsOf } from '../cohorts/cohort-rules.ts';
import type { EventRecipients, LookupRecipients } from '../configuration/resources.ts';
import type { PlacedRule } from '../configuration/streams.ts';
import type { Expression, ExpressionPlace } from './expression.ts';
import { compileForms, type CompiledForm, type ExpressionCompiler, type RuleFault } from './forms/index.ts';

/** What a rule must remember per entity. */
export type RuleNeeds = {
  readonly forms: readonly CompiledForm[];
  /**
   * True if the rule names `previous`, the entity's previous event. The previous row of a change comes with the change
   * instead.
   */
  readonly readsPrevious: boolean;
};

/** Parts of every published rule. Expressions are compiled once per version of the rule. */
type RuleParts = {
  readonly placed: PlacedRule;
  /** Kinds of changes that the rule evaluates. An event that is no change is always evaluated. */
  readonly changes: readonly ChangeOp[];
  readonly when: Expression;
  readonly uniqueId: Expression | 'event_id' | 'trigger_id' | null;
  readonly person: Expression | null;
  readonly where: Expression | null;
  /**
   * Expression of `cadence.delay.until` of the notification: when the message is due. Sees the names that `unique_id`
   * sees.
   */
  readonly until: Expression | null;
  /**
   * Expression of `cadence.digest.key` of the notification: items with the same value share a digest. Sees the names
   * that `where` sees.
   */
  readonly digestKey: Expression | null;
  /** Null if the rule remembers nothing, so that no memory is loaded for it. */
  readonly memory: RuleNeeds | null;
};

/** A rule whose events name the recipients. */
export type EventRule = RuleParts & {
  readonly from: 'event';
  readonly forEach: Expression | null;
  readonly to: {
    readonly email: Expression | null;
    readonly phone: Expression | null;
    readonly token: Expression | null;
  };
  readonly variables: readonly (readonly [name: string, value: Expression])[];
};

/** A rule that asks a partner for the recipients, with user ids from the event. */
export type LookupRule = RuleParts & {
  readonly from: 'lookup';
  readonly integration: string;
  readonly userIds: Expression;
};

export type CompiledRule = EventRule | LookupRule;

/** Returns true if the expressions of the rule see totals. */
export const hasTotals = ({ memory }: Pick<CompiledRule, 'memory'>): boolean =>
  memory?.forms.some((form) => form.prepare !== undefined) === true;

type Read = (field: string, source: string | undefined, place: ExpressionPlace) => Expression | null;

/** Compiles all expressions of a rule, or returns all mistakes in them. */
export function compileRule(
  placed: PlacedRule,
  language: ExpressionCompiler,
): Result<CompiledRule, readonly RuleFault[]> {
  const faults: RuleFault[] = [];
  const expressions: Expression[] = [];
  const read: Read = (field, source, place) => {
    if (source === undefined) return null;
    const compiled = language.compile(source, place);
    if (compiled.ok) {
      expressions.push(compiled.value);
      return compiled.value;
    }
    faults.push(...compiled.error.map((fault) => ({ field, ...fault })));
    return null;
  };
  const { recipients, changes = DEFAULTS.rule.changes } = placed.body;
  const when = read('when', conditionOf(placed.body), 'when');
  const rule = recipients.from === 'lookup' ? readLookup(read, recipients) : readEventRecipients(read, recipients);
  const delay = placed.notification.body.cadence?.delay;
  const until =
    typeof delay === 'object' && 'until' in delay
      ? read(UNTIL, delay.until, recipients.from === 'lookup' ? 'answer' : 'recipient')
      : null;
  const digestKey = read(DIGEST_KEY, placed.notification.body.cadence?.digest?.key, 'digest_key');
  const forms = compileForms(placed.body, language);
  if (!forms.ok) faults.push(...forms.error);
  if (when === null || rule === null || !forms.ok || faults.length > 0) return err(faults);
  const memory = needsOf(placed, forms.value, expressions);
  return ok({ placed, changes, when, until, digestKey, memory, ...rule });
}

function needsOf(
  { keepsPrevious }: PlacedRule,
  forms: readonly CompiledForm[],
  expressions: readonly Expression[],
): RuleNeeds | null {
  const all = [...expressions, ...forms.flatMap((form) => form.expressions.map(([, expression]) => expression))];
  const readsPrevious = keepsPrevious && all.some(({ fields }) => fields.some(({ root }) => root === 'previous'));
  return forms.length === 0 && !readsPrevious ? null : { forms, readsPrevious };
}

/** Paths of the expressions in the file of the notification. */
const UNTIL = 'cadence.delay.until';
const DIGEST_KEY = 'cadence.digest.key';

type Own<Rule extends CompiledRule> = Omit<Rule, 'placed' | 'changes' | 'when' | 'until' | 'digestKey' | 'memory'>;

function readEventRecipients(read: Read, recipients: EventRecipients): Own<EventRule> {
  const { email, phone, token } = recipients.to;
  return {
    from: 'event',
    forEach: read('recipients.for_each', recipients.for_each, 'for_each'),
    to: {
      email: read('recipients.to.email', email, 'recipient'),
      phone: read('recipients.to.phone', phone, 'recipient'),
      token: read('recipients.to.token', token, 'recipient'),
    },
    uniqueId: readUniqueId(read, recipients.unique_id, 'recipient'),
    person: read('recipients.person', recipients.person, 'recipient'),
    variables: readVariables(read, recipients.variables),
    where: read('recipients.where', recipients.where, 'where'),
  };
}

function readLookup(read: Read, recipients: LookupRecipients): Own<LookupRule> | null {
  const userIds = read('recipients.user_ids', userIdsOf(recipients.user_ids), 'user_ids');
  const rest = {
    from: 'lookup' as const,
    integration: recipients.integration,
    uniqueId: readUniqueId(read, recipients.unique_id, 'answer'),
    person: read('recipients.person', recipients.person, 'answer'),
    where: read('recipients.where', recipients.where, 'where'),
  };
  return userIds && { ...rest, userIds };
}

/** `event_id` and `trigger_id` as the whole expression are reserved words (docs/unique-id.md). */
function readUniqueId(read: Read, source: string | undefined, place: ExpressionPlace): CompiledRule['uniqueId'] {
  const constant = source?.trim();
  if (constant === 'event_id' || constant === 'trigger_id') return constant;
  return read('recipients.unique_id', source, place);
}

function readVariables(read: Read, variables: Readonly<Record<string, string>> = {}): EventRule['variables'] {
  return Object.entries(variables).flatMap(([name, source]) => {
    const value = read(`recipients.variables.${name}`, source, 'recipient');
    return value === null ? [] : [[name, value] as const];
  });
}
