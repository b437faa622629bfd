import { bodiesIn, putTogether, newPutting, placeAt, withoutPutIns } from '@carillon/domain';
import { LAYOUT_FILES } from '../files/layout.ts';
import { isKind } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Check, TemplateCheck } from './surroundings.ts';

/** A layout or partial by itself, whether anything uses it or not. */
export const checkPutIn: Check = (resource, around, report) => {
  const { ref } = resource;
  const shelf = around.shelf(ref.workspace);
  if (isKind(resource, 'partial')) {
    const { text } = resource.body;
    checkPiece(text, ['text'], around.templates, report);
    const putting = newPutting(shelf);
    putTogether({ kind: 'partial', name: ref.name, part: 'text', source: `{{> ${ref.name}}}` }, putting);
    const own = putting.faults.find(({ message }) => message.startsWith(`The partial ${ref.name} holds itself`));
    if (own) {
      const { message, fix, origin, at } = own;
      const { workspace } = ref;
      const where = around.reportOn({ kind: 'partial', workspace, name: origin.name });
      where.fault(['text'], { message, expected: 'a template that can be rendered', fix }, placeAt(origin.source, at));
    }
  }
  if (!isKind(resource, 'layout')) return;
  for (const key of Object.values(LAYOUT_FILES)) {
    const text = resource.body[key];
    if (text === undefined) continue;
    checkPiece(text, [key], around.templates, report);
    checkBody(text, [key], report);
  }
};

function checkBody(text: string, path: ValuePath, report: Report): void {
  const bodies = bodiesIn(text);
  if (bodies === 1) return;
  const plain = /\{\{\s*body\s*\}\}/.exec(text);
  const expected = '{{{body}}} once, where the template’s own text goes';
  if (bodies > 1) {
    const message = `{{{body}}} stands ${bodies} times in this layout`;
    report.fault(path, { message, expected, fix: 'leave one of them' }, placeAt(text, text.lastIndexOf('{{{')));
  } else if (plain) {
    const fix = 'write {{{body}}}: with two braces it is a variable of that name';
    report.fault(path, { message: 'the layout has no {{{body}}}', expected, fix }, placeAt(text, plain.index));
  } else {
    const fix = 'write {{{body}}} where the text of the template goes';
    report.fault(path, { message: 'the layout has no {{{body}}}', expected, fix }, { line: 1, column: 1 });
  }
}

/** Faults that a text has by itself: blocks begin and end in it, and helpers are called as they are written. */
export function checkPiece(text: string, path: ValuePath, templates: TemplateCheck, report: Report): boolean {
  const faults = templates.piece(withoutPutIns(text));
  for (const { line, column, message, fix } of faults) {
    report.fault(path, { message, expected: 'a text that can be put in', fix }, { line, column });
  }
  return faults.length === 0;
}
