import { join } from 'node:path';
import type { AppliedBody, FaultBody, PlanBody } from '@carillon/contracts';
import { clean, paint, withTimes, type Style } from '../output.ts';

export const countWords = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** A mistake keeps a folder from being applied. */
export const showFault = (fault: FaultBody, folder: string): string => placed(fault, folder, 'red', '');

/** A warning keeps nothing from being applied, and says so without colours too. */
export const showWarning = (warning: FaultBody, folder: string): string =>
  placed(warning, folder, 'yellow', 'warning: ');

function placed(fault: FaultBody, folder: string, colour: Style, word: string): string {
  const place = `${join(folder, clean(fault.file))}:${fault.line}:${fault.column}`;
  const expected = fault.expected === '' ? '' : `\n    expected ${clean(fault.expected)}`;
  const fix = fault.fix === '' ? '' : `\n    ${clean(fault.fix)}`;
  return `${paint('bold', place)} ${paint(colour, `${word}${withTimes(clean(fault.message))}`)}${expected}${fix}`;
}

/**
 * Describes how many people a removed notification has notified, and how many still wait for a message. Empty for kinds
 * that notify nobody.
 */
export function toldWords({ told, waiting }: PlanBody['changes'][number]): string {
  if (told === null) return '';
  const still = waiting ? `; waiting messages to ${countPeople(waiting)} are not sent` : '';
  return ` (${told === 1 ? '1 person was' : `${told} people were`} notified by it${still})`;
}
const countPeople = (count: number): string => (count === 1 ? '1 person' : `${count} people`);

const SIGNS = { create: '+', update: '~', delete: '-', missing: '?' } as const;

function showPlan(plan: PlanBody, folder: string): string {
  const lines: string[] = [];
  for (const fault of plan.faults) lines.push(showFault(fault, folder));
  for (const warning of plan.warnings) lines.push(showWarning(warning, folder));
  for (const change of plan.changes) {
    const told = toldWords(change);
    const note = `${paint('red', told)}${change.note === null ? '' : `  ${paint('dim', withTimes(clean(change.note)))}`}`;
    const words = change.action === 'missing' ? 'is not in the folder (kept; --prune removes it)' : '';
    lines.push(`${SIGNS[change.action]} ${paint('bold', clean(change.resource))} ${words}${note}`.trimEnd());
    if (change.action !== 'update') continue;
    for (const field of change.fields) {
      lines.push(`    ${clean(field.path)}`);
      if (field.before !== null) lines.push(`      ${paint('red', `- ${clean(field.before)}`)}`);
      if (field.after !== null) lines.push(`      ${paint('green', `+ ${clean(field.after)}`)}`);
    }
  }
  return lines.join('\n');
}

/** Returns the output of `diff`: mistakes, warnings, changes, and the number of mistakes and warnings. */
export function showDiff(plan: PlanBody, folder: string): string {
  if (plan.faults.length > 0) return withHead(plan, folder, countWords(plan.faults.length, 'mistake'));
  return withHead(plan, folder, plan.changes.length > 0 ? '' : `nothing would change (configuration ${plan.number})`);
}

/** Returns the output of `apply` for a folder. */
export function showApplied(applied: AppliedBody, folder: string): string {
  if (applied.faults.length > 0) {
    return withHead(applied, folder, `${countWords(applied.faults.length, 'mistake')}, nothing was applied`);
  }
  const head = applied.applied
    ? `applied as configuration ${applied.new_number}; it applies to every event from now on`
    : `nothing to change (configuration ${applied.number})`;
  return [withHead(applied, folder, head), ...conflictLines(applied)].join('\n');
}

/** Lists the drafts whose base this apply changed. */
function conflictLines({ draft_conflicts: conflicts }: AppliedBody): readonly string[] {
  return conflicts.map(({ kind, workspace, name, by }) => {
    const what = clean([kind.replace('_', ' '), [workspace, name].filter((part) => part !== '').join('/')].join(' '));
    return paint(
      'yellow',
      `the draft of ${what}, by ${by.kind} ${clean(by.id)}, is in conflict now: npx carillon drafts`,
    );
  });
}

/** The list, and under it what came of it and how many warnings it holds. */
function withHead(plan: PlanBody, folder: string, head: string): string {
  const count = plan.warnings.length === 0 ? '' : countWords(plan.warnings.length, 'warning');
  const summary = [head, count].filter((part) => part !== '').join('; ');
  return [showPlan(plan, folder), summary].filter((part) => part !== '').join('\n\n');
}
