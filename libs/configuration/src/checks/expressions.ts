import { MAX_RECIPIENTS, RULE_STEPS } from '@carillon/domain';
import type { Expression, ExpressionPlace, Recipients, RuleBody, StreamBody } from '@carillon/domain';
import type { DesiredResource, ExpressionCheck } from '../files/desired.ts';
import { type FileFault, type FileWarning, pathText, type ValuePath } from '../files/place.ts';
import type { YamlSource } from '../files/yaml-source.ts';

type Placed = readonly [path: ValuePath, place: ExpressionPlace, source: string];
type Report = { readonly faults: FileFault[]; readonly warnings: FileWarning[] };

const RESERVED: ReadonlySet<string> = new Set(['event_id', 'trigger_id']);
const CHANGED = /\bchanged(?:To|FromTo)?\s*\(/;

/** Compiles every expression of a resource; faults stand where the character stands in the file. */
export function checkExpressions(
  resource: DesiredResource,
  source: YamlSource,
  language: ExpressionCheck,
  report: Report,
): void {
  if (resource.ref.kind === 'stream' || resource.ref.kind === 'notification') {
    const { key, time, security } = resource.body as Partial<StreamBody>;
    if (key !== undefined) compile([['key'], 'path', key], source, language, report);
    if (time !== undefined) compile([['time'], 'path', time], source, language, report);
    for (const [claim, path] of Object.entries(security?.claims ?? {})) {
      compile([['security', 'claims', claim], 'path', path], source, language, report);
    }
  }
  if (resource.ref.kind !== 'notification') return;
  const { rules } = resource.body as { readonly rules: Readonly<Record<string, RuleBody>> };
  for (const [name, rule] of Object.entries(rules)) checkRule(name, rule, source, language, report);
}

function checkRule(name: string, rule: RuleBody, source: YamlSource, language: ExpressionCheck, report: Report): void {
  const { recipients } = rule;
  const at = ['rules', name, 'recipients'] as const;
  const steps = { once: 0, each: 0 };
  if (rule.when !== undefined) {
    const when = compile([['rules', name, 'when'], 'when', rule.when], source, language, report);
    steps.once += when?.largeSteps ?? 0;
  }
  for (const placed of expressionsOf(at, recipients)) {
    const expression = compile(placed, source, language, report);
    steps[ONCE.has(placed[1]) ? 'once' : 'each'] += expression?.largeSteps ?? 0;
    const each = recipients.from === 'event' && recipients.for_each !== undefined;
    if (expression?.usesItem && !each && placed[1] !== 'for_each') {
      report.faults.push({
        ...whereOf(source, placed[0]),
        message: 'item is only there under for_each',
        expected: 'event, event_id or time',
        fix: 'add for_each: <a list in the event>, or write event instead of item',
      });
    }
    if (placed[0].at(-1) === 'unique_id' && placed[0].length === 4)
      warnOfRepeats(recipients, expression, source, at, report);
  }
  warnOfSteps(name, recipients, steps, source, report);
  if (recipients.unique_id === undefined) {
    report.warnings.push({
      ...whereOf(source, at, 'key'),
      message: `unique_id is left out, so ${recipients.from === 'lookup' ? 'unless the partner names one, ' : ''}each address gets this notification once, ever`,
      fix: 'write unique_id: event_id to count every event, or an expression such as event.order_id; keep it if once is meant',
    });
  }
}

/** Expressions that are evaluated once for an event; the others once for each recipient. */
const ONCE: ReadonlySet<ExpressionPlace> = new Set(['when', 'for_each', 'user_ids']);

/** A rule that a large event could make spend all its steps, so that recipients would be dropped. */
function warnOfSteps(
  name: string,
  recipients: Recipients,
  { once, each }: { readonly once: number; readonly each: number },
  source: YamlSource,
  report: Report,
): void {
  const several = recipients.from === 'lookup' || recipients.for_each !== undefined;
  const steps = Math.round(once + each * (several ? MAX_RECIPIENTS : 1));
  if (steps <= RULE_STEPS) return;
  const event = `${several ? `${MAX_RECIPIENTS} recipients, ` : ''}lists of 100 entries and texts of 10,000 characters`;
  report.warnings.push({
    ...whereOf(source, ['rules', name], 'key'),
    message: `on an event with ${event} this rule would take about ${steps} steps of the ${RULE_STEPS} that it has; what is left then is dropped as too_complex`,
    fix: several
      ? 'ask what is the same for all recipients in when, and look at less text for each of them'
      : 'look at less text, or at fewer entries of lists',
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

/** Two recipients of one event with one unique_id are one and a duplicate; seldom what is meant. */
function warnOfRepeats(
  recipients: Recipients,
  expression: Expression | null,
  source: YamlSource,
  at: ValuePath,
  report: Report,
): void {
  const several = recipients.from === 'lookup' ? 'variables' : 'item';
  const list = recipients.from === 'lookup' ? recipients.user_ids : recipients.for_each;
  const { unique_id: unique } = recipients;
  if (list === undefined || unique === undefined || RESERVED.has(unique)) return;
  if (expression === null || expression.usesItem) return;
  if (expression.fields.some(({ root }) => root === several)) return;
  report.warnings.push({
    ...whereOf(source, [...at, 'unique_id']),
    message: `unique_id does not mention ${several}, so of all recipients of one event only the first is told`,
    fix: `mention ${several}, for instance event.order_id + ":" + ${several}.${several === 'item' ? 'email' : 'user_id'}, or write event_id`,
  });
}

function compile(
  [path, place, text]: Placed,
  source: YamlSource,
  language: ExpressionCheck,
  report: Report,
): Expression | null {
  if (path.at(-1) === 'unique_id' && RESERVED.has(text)) return null;
  const compiled = language.compile(text, place);
  if (compiled.ok) return compiled.value;
  for (const fault of compiled.error) {
    const later = CHANGED.test(text) && /changed/.test(fault.message);
    report.faults.push({
      file: source.file,
      path: pathText(path),
      ...source.innerPlace(path, fault),
      message: later ? 'changed(…) comes in a later version (rules with state and time)' : fault.message,
      expected: 'a valid expression (CEL)',
      fix: later ? 'remove it until then' : fault.fix,
    });
  }
  return null;
}

export const whereOf = (
  source: YamlSource,
  path: ValuePath,
  at: 'key' | 'value' = 'value',
): Pick<FileFault, 'file' | 'path' | 'line' | 'column'> => ({
  file: source.file,
  path: pathText(path),
  ...(at === 'key' ? source.keyPlace(path) : source.valuePlace(path)),
});
