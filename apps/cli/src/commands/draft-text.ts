import type { DraftConflictBody, DraftsPlanBody, PlanBody } from '@carillon/contracts';
import { clean, paint, withTimes } from '../output.ts';
import { toldWords } from './plan-text.ts';

type Faulty = Pick<DraftsPlanBody, 'faults' | 'warnings'>;

/** Mistakes and warnings by resource and path. */
export function faultLines({ faults, warnings }: Faulty): readonly string[] {
  const lineOf = ({ kind, name, path, message, fix }: Faulty['faults'][number], isFault: boolean): string => {
    const place = [`${kind}/${name}`.replace(/\/$/, ''), path].filter((part) => part !== '').join(' ');
    const words = paint(isFault ? 'red' : 'yellow', `${isFault ? '' : 'warning: '}${withTimes(clean(message))}`);
    return `${paint('bold', clean(place))} ${words}\n    ${clean(fix)}`;
  };
  return [...faults.map((one) => lineOf(one, true)), ...warnings.map((one) => lineOf(one, false))];
}

const SIGNS = { create: '+', update: '~', delete: '-', missing: '?' } as const;

/** Changes with their notes, the fields of updates, and the people under deletions. */
export function changeLines(changes: PlanBody['changes']): readonly string[] {
  return changes.flatMap((change) => {
    const head = `${SIGNS[change.action]} ${paint('bold', clean(change.resource))}${paint('red', toldWords(change))}`;
    const note = change.note === null ? [] : [`    ${withTimes(clean(change.note))}`];
    if (change.action !== 'update') return [head, ...note];
    return [
      head,
      ...note,
      ...change.fields.flatMap(({ path, before, after }) => [
        `    ${clean(path)}`,
        ...(before === null ? [] : [`      ${paint('red', `- ${clean(before)}`)}`]),
        ...(after === null ? [] : [`      ${paint('green', `+ ${clean(after)}`)}`]),
      ]),
    ];
  });
}

/** Describes the two versions of a resource in conflict. */
export function conflictText({ kind, name, base, theirs, mine, fields }: DraftConflictBody): string {
  const title = paint('bold', clean(name === '' ? kind : `${kind}/${name}`));
  const from = base.number === null ? 'nothing' : `number ${base.number}`;
  const now = theirs.body === null ? 'was removed' : `is number ${theirs.number}`;
  const wish = mine.body === null ? '; the draft removes it' : '';
  const value = (text: string | null): string => (text === null ? '(not there)' : clean(text));
  return [
    `${title} ${paint('yellow', `began from ${from}, and ${now}${wish}`)}`,
    ...fields.flatMap((field) => [
      `    ${clean(field.path)}`,
      `      base    ${value(field.base)}`,
      `      theirs  ${value(field.theirs)}`,
      `      mine    ${value(field.mine)}`,
    ]),
  ].join('\n');
}
