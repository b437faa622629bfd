import { hasKey, takesChanges, type Recipients, type RuleBody, type Security } from '@carillon/domain/configuration';
import {
  MAX_RECIPIENTS,
  neverADeadline,
  neverAKey,
  neverATime,
  RULE_STEPS,
  waits,
  type Expression,
  type ExpressionPlace,
} from '@carillon/domain/rules';
import { isKind } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Check, CheckedAgainst, ExpressionCheck } from './check-context.ts';
import { checkTotals, checkTotalsRead } from './totals.ts';

type Placed = readonly [path: ValuePath, place: ExpressionPlace, source: string];

const RESERVED: ReadonlySet<string> = new Set(['event_id', 'trigger_id']);

/** Compiles every expression of a resource. A fault names its position in the expression's text. */
export const checkExpressions: Check = (resource, around, report) => {
  const { language } = around;
  const path = (at: ValuePath, text: string | undefined): void => {
    if (text !== undefined) compile([at, 'path', text], language, report);
  };
  const claims = (security: Security | undefined): void => {
    for (const [claim, text] of Object.entries(security?.claims ?? {})) path(['security', 'claims', claim], text);
  };
  if (isKind(resource, 'stream')) {
    path(['key'], resource.body.key);
    path(['time'], resource.body.time);
    for (const kind of ['tables', 'topics'] as const) {
      for (const [name, text] of Object.entries(resource.body.from?.[kind] ?? {})) path(['from', kind, name], text);
    }
    claims(resource.body.security);
  }
  if (isKind(resource, 'notification')) {
    claims(resource.body.security);
    const rules = Object.entries(resource.body.rules);
    const names = new Map(rules.map(([, rule]) => [rule, namesOf(rule, resource.ref.workspace, around)] as const));
    /** Refuses names that any of these rules lacks. */
    const refuseNames = (at: ValuePath, expression: Expression | null, of: readonly RuleBody[]): void => {
      for (const rule of of) {
        if (refuseName(at, expression, rule, names.get(rule) ?? ALL_NAMES, report)) return;
        if (expression && checkTotalsRead(at, expression, rule, report)) return;
      }
    };
    const delay = resource.body.cadence?.delay;
    if (typeof delay === 'object' && 'until' in delay) {
      // Every rule of the notification uses it; those with a lookup see the partner's variables, the others the event's item.
      const kinds = Object.values(resource.body.rules).map(({ recipients }) => recipients.from);
      for (const from of new Set(kinds)) {
        const place = from === 'lookup' ? 'answer' : 'recipient';
        const until = compile([UNTIL, place, delay.until], language, report);
        refuseNames(
          UNTIL,
          until,
          Object.values(resource.body.rules).filter(({ recipients }) => recipients.from === from),
        );
        if (until) refuseConstant(UNTIL, neverATime(until), 'event.starts_at', report);
      }
    }
    const digestKey = resource.body.cadence?.digest?.key;
    if (digestKey !== undefined) {
      const key = compile([KEY, 'digest_key', digestKey], language, report);
      refuseNames(KEY, key, Object.values(resource.body.rules));
      if (key) refuseConstant(KEY, neverAKey(key), 'event.project', report);
    }
    for (const [name, rule] of rules) {
      checkTotals(name, rule, { workspace: resource.ref.workspace, body: resource.body, around }, report);
      checkRule(name, rule, language, (at, expression) => refuseNames(at, expression, [rule]), report);
    }
  }
};

const UNTIL = ['cadence', 'delay', 'until'] as const;
const KEY = ['cadence', 'digest', 'key'] as const;

/** Reports an expression that fails for every event, before it drops any recipient. */
function refuseConstant(path: ValuePath, why: string | null, example: string, report: Report): void {
  if (why === null) return;
  report.fault(path, { code: 'expression_constant', facts: { why, example } });
}

/** Names that a rule has beside those of every event. */
type OwnNames = {
  /** `op` and `source`. */
  readonly change: boolean;
  /** `previous` and `changed`. */
  readonly previous: boolean;
  readonly deadline: boolean;
};
const ALL_NAMES: OwnNames = { change: true, previous: true, deadline: true };

/** A rule whose stream is missing may have all names: the stream is reported at the key that names it. */
function namesOf(rule: RuleBody, workspace: string, around: CheckedAgainst): OwnNames {
  const stream = rule.stream === undefined ? {} : around.stream(workspace, rule.stream);
  const deadline = waits(rule);
  if (stream === undefined) return { ...ALL_NAMES, deadline };
  const change = takesChanges(stream);
  const isKeyed = hasKey(stream) || rule.cohort !== undefined;
  return { change, previous: change || isKeyed, deadline };
}

/** Last keys of expressions that are evaluated with the answer of a partner. Its trigger carries the row before of a change only. */
const AFTER_ANSWER: ReadonlySet<string | number> = new Set(['unique_id', 'person', 'where', 'until', 'key']);

/** Returns true if the expression asks for something that the rule does not have. */
function refuseName(
  at: ValuePath,
  expression: Expression | null,
  { stream = '', recipients }: RuleBody,
  names: OwnNames,
  report: Report,
): boolean {
  const needs = { previous: names.previous, op: names.change, source: names.change, deadline: names.deadline };
  const isMissing = (root: string): root is keyof typeof needs => Object.hasOwn(needs, root) && !needs[root as 'op'];
  if (!expression) return false;
  const roots = expression.fields.map((field) => field.root);
  const isLate = recipients.from === 'lookup' && AFTER_ANSWER.has(at.at(-1) ?? '') && !names.change;
  const root = roots.find(isMissing) ?? (isLate ? roots.find((each) => each === 'previous') : undefined);
  if (root === undefined) return false;
  if (root === 'deadline') {
    report.fault(at, { code: 'deadline_without_wait', facts: {} });
    return true;
  }
  if (root !== 'previous') {
    report.fault(at, { code: 'not_a_change', facts: { name: root, stream } });
    return true;
  }
  const name = /\bchanged(?:To|FromTo)?(?=\s*\()/.exec(expression.source)?.[0] ?? root;
  const fault = names.previous
    ? ({ code: 'previous_after_answer', facts: { name } } as const)
    : ({ code: 'state_without_key', facts: { name, stream } } as const);
  report.fault(at, fault);
  return true;
}

type RefuseNames = (at: ValuePath, expression: Expression | null) => void;

function checkRule(
  name: string,
  rule: RuleBody,
  language: ExpressionCheck,
  refuseNames: RefuseNames,
  report: Report,
): void {
  const { recipients } = rule;
  const at = ['rules', name, 'recipients'] as const;
  const steps = { once: 0, each: 0 };
  if (rule.when !== undefined) {
    const when = compile([['rules', name, 'when'], 'when', rule.when], language, report);
    refuseNames(['rules', name, 'when'], when);
    steps.once += when?.largeSteps ?? 0;
  }
  for (const key of ['unless', 'at'] as const) {
    const source = rule[key];
    const expression = source === undefined ? null : compile([['rules', name, key], key, source], language, report);
    refuseNames(['rules', name, key], expression);
    steps.once += expression?.largeSteps ?? 0;
    if (key === 'at' && expression) {
      refuseConstant(['rules', name, key], neverADeadline(expression), 'timestamp(event.starts_at)', report);
    }
  }
  for (const placed of totalExpressions(name, rule)) {
    const expression = compile(placed, language, report);
    refuseNames(placed[0], expression);
    steps.once += expression?.largeSteps ?? 0;
  }
  for (const placed of expressionsOf(at, recipients)) {
    const expression = compile(placed, language, report);
    refuseNames(placed[0], expression);
    steps[ONCE.has(placed[1]) ? 'once' : 'each'] += expression?.largeSteps ?? 0;
    const each = recipients.from === 'event' && recipients.for_each !== undefined;
    if (expression?.usesItem && !each && placed[1] !== 'for_each') {
      report.fault(placed[0], { code: 'item_without_list', facts: {} });
    }
    if (placed[0].at(-1) === 'unique_id' && placed[0].length === 4) warnOfRepeats(recipients, expression, at, report);
  }
  warnOfSteps(name, recipients, steps, report);
  if (recipients.unique_id === undefined) {
    report.warn(at, { code: 'once_ever', facts: { from: recipients.from } }, 'key');
  }
}

/** Expressions that are evaluated once for an event; the others once for each recipient. */
const ONCE: ReadonlySet<ExpressionPlace> = new Set(['when', 'for_each', 'user_ids']);

/** A rule that a large event could make spend all its steps, so that recipients would be dropped. */
function warnOfSteps(
  name: string,
  recipients: Recipients,
  { once, each }: { readonly once: number; readonly each: number },
  report: Report,
): void {
  const several = recipients.from === 'lookup' || recipients.for_each !== undefined;
  const steps = Math.round(once + each * (several ? MAX_RECIPIENTS : 1));
  if (steps <= RULE_STEPS) return;
  const facts = {
    steps: String(steps),
    most: String(RULE_STEPS),
    recipients: several ? String(MAX_RECIPIENTS) : '',
  };
  report.warn(['rules', name], { code: 'rule_expensive', facts }, 'key');
}

function totalExpressions(ruleName: string, { totals = {} }: RuleBody): readonly Placed[] {
  return Object.entries(totals).flatMap(([name, { count, sum, distinct, where }]) => {
    const sources = [
      ['count', 'total_condition', count],
      ['sum', 'total_sum', sum],
      ['distinct', 'total_distinct', distinct],
      ['where', 'total_condition', where],
    ] as const;
    return sources.flatMap(([key, place, source]): Placed[] =>
      source === undefined ? [] : [[['rules', ruleName, 'totals', name, key], place, source]],
    );
  });
}

function expressionsOf(at: ValuePath, recipients: Recipients): readonly Placed[] {
  const placed: Placed[] = [];
  const add = (path: ValuePath, place: ExpressionPlace, text: string | undefined): void => {
    if (text !== undefined) placed.push([[...at, ...path], place, text]);
  };
  if (recipients.from === 'lookup') {
    add(['user_ids'], 'user_ids', recipients.user_ids);
    add(['unique_id'], 'answer', recipients.unique_id);
    add(['person'], 'answer', recipients.person);
    add(['where'], 'where', recipients.where);
    return placed;
  }
  add(['for_each'], 'for_each', recipients.for_each);
  for (const [channel, text] of Object.entries(recipients.to)) add(['to', channel], 'recipient', text);
  add(['unique_id'], 'recipient', recipients.unique_id);
  add(['person'], 'recipient', recipients.person);
  for (const [name, text] of Object.entries(recipients.variables ?? {})) add(['variables', name], 'recipient', text);
  add(['where'], 'where', recipients.where);
  return placed;
}

/**
 * Warns if recipients of one event share a unique_id, because all but one would be duplicates, which is seldom
 * intended.
 */
function warnOfRepeats(recipients: Recipients, expression: Expression | null, at: ValuePath, report: Report): void {
  const several = recipients.from === 'lookup' ? 'variables' : 'item';
  const list = recipients.from === 'lookup' ? recipients.user_ids : recipients.for_each;
  const { unique_id: unique } = recipients;
  if (list === undefined || unique === undefined || RESERVED.has(unique)) return;
  if (expression === null || expression.usesItem) return;
  if (expression.fields.some(({ root }) => root === several)) return;
  report.warn([...at, 'unique_id'], { code: 'once_per_event', facts: { mention: several } });
}

function compile([path, place, text]: Placed, language: ExpressionCheck, report: Report): Expression | null {
  if (path.at(-1) === 'unique_id' && RESERVED.has(text)) return null;
  const compiled = language.compile(text, place);
  if (compiled.ok) return compiled.value;
  for (const { message, fix, line, column } of compiled.error) {
    report.fault(path, { code: 'expression_invalid', facts: { message, fix } }, { line, column });
  }
  return null;
}
