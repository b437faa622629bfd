import { asWritten, CHANNEL_NAMES, channelsOf, variantsOf } from '@carillon/domain/channels';
import type { NotificationBody, RuleBody } from '@carillon/domain/configuration';
import { TOTAL_KINDS, type Expression, type FieldReference, type Requirement } from '@carillon/domain/rules';
import { assemble } from '@carillon/domain/templates';
import { MAX_SAMPLES } from '@carillon/shapes/values';
import type { ValuePath } from '../value-path.ts';
import type { CheckedAgainst } from './check-context.ts';
import type { Report } from './finding.ts';

/** Refuses totals that an expression names and its rule does not have, and comparisons with more samples than are kept. */
export function checkTotalsRead(
  at: ValuePath,
  expression: Expression,
  { totals = {} }: RuleBody,
  report: Report,
): boolean {
  const fields = expression.fields.filter(({ root }) => root === 'totals');
  if (fields.length === 0) return false;
  const known = Object.keys(totals).join(', ');
  for (const field of fields) {
    const name = nameOf(field);
    if (name !== null && Object.hasOwn(totals, name)) continue;
    report.fault(at, { code: 'total_unknown', facts: { name: name ?? '', known } });
    return true;
  }
  const beyond = comparedTotals(expression.requirement()).find(
    ({ name, number }) => number > MAX_SAMPLES && keepsSamples(totals[name]),
  );
  if (beyond)
    report.fault(at, { code: 'total_beyond_samples', facts: { name: beyond.name, most: String(MAX_SAMPLES) } });
  return beyond !== undefined;
}

/** Checks that each total has one kind, and that something of the notification reads it. */
export function checkTotals(
  ruleName: string,
  rule: RuleBody,
  {
    workspace,
    body,
    around,
  }: { readonly workspace: string; readonly body: NotificationBody; readonly around: CheckedAgainst },
  report: Report,
): void {
  const { totals } = rule;
  if (totals === undefined) return;
  const at = ['rules', ruleName, 'totals'] as const;
  const { when, unless, recipients } = rule;
  const own = [when, unless, JSON.stringify(recipients), JSON.stringify(body.cadence)].join('\n');
  for (const [name, total] of Object.entries(totals)) {
    const kinds = TOTAL_KINDS.filter((kind) => total[kind] !== undefined);
    if (kinds.length !== 1) report.fault([...at, name], { code: 'total_kind', facts: {} }, 'key');
    if (total.count !== undefined && total.where !== undefined) {
      report.fault([...at, name, 'where'], { code: 'total_where', facts: {} }, 'key');
    }
    if (!mentions(own, name) && !templateMentions(name, workspace, body, around)) {
      report.fault([...at, name], { code: 'total_unused', facts: { name } }, 'key');
    }
  }
  if (rule.cooldown === undefined && when !== undefined && Object.keys(totals).some((name) => mentions(when, name))) {
    report.warn(at, { code: 'totals_without_cooldown', facts: {} }, 'key');
  }
}

const nameOf = ({ steps, dynamic }: FieldReference): string | null => {
  const [name] = steps;
  return !dynamic && typeof name === 'string' ? name : null;
};

const keepsSamples = (total: NonNullable<RuleBody['totals']>[string] | undefined): boolean =>
  total !== undefined &&
  total.sum === undefined &&
  (total.distinct !== undefined || !total.within.startsWith('calendar '));

type Compared = { readonly name: string; readonly number: number };

/** Returns the numbers that totals are compared with. A total that has to be more than a number has to reach the next one. */
function comparedTotals(requirement: Requirement): readonly Compared[] {
  if (requirement.kind === 'all' || requirement.kind === 'any') return requirement.of.flatMap(comparedTotals);
  if (requirement.kind !== 'order' && requirement.kind !== 'one_of') return [];
  const { field } = requirement;
  const [name] = field.steps;
  if (field.root !== 'totals' || typeof name !== 'string') return [];
  if (requirement.kind === 'one_of') return requirement.values.map((value) => ({ name, number: Number(value) }));
  const isMore = requirement.is === '>' || requirement.is === '<=';
  return [{ name, number: Number(requirement.than) + (isMore ? 1 : 0) }];
}

/** Returns true if a text has `totals.name` or `totals["name"]`. */
const mentions = (text: string, name: string): boolean => new RegExp(`\\btotals\\W{1,8}${name}\\b`).test(text);

/** A template that cannot be read may name every total. */
function templateMentions(name: string, workspace: string, body: NotificationBody, around: CheckedAgainst): boolean {
  const includes = around.includes(workspace);
  const names = [...channelsOf(body).map(([, { template }]) => template), body.cadence?.digest?.template];
  return names.some((template) => {
    if (template === undefined) return false;
    const found = around.template(workspace, template);
    if (found === undefined) return true;
    const variants = CHANNEL_NAMES.flatMap((channel) => variantsOf(found, channel));
    return variants.some((variant) => mentions(JSON.stringify(assemble(asWritten(variant), includes).template), name));
  });
}
