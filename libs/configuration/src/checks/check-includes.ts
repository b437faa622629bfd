import { bodiesIn, putTogether, newPutting, placeAt, withoutPutIns } from '@carillon/domain/templates';
import { LAYOUT_FILES } from '../files/layout.ts';
import { isKind } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Check, TemplateCheck } from './check-context.ts';

/** A layout or partial by itself, whether anything uses it or not. */
export const checkInclude: Check = (resource, around, report) => {
  const { ref } = resource;
  const includes = around.includes(ref.workspace);
  if (isKind(resource, 'partial')) {
    const { text } = resource.body;
    checkPiece(text, ['text'], around.templates, report);
    const putting = newPutting(includes);
    putTogether({ kind: 'partial', name: ref.name, part: 'text', source: `{{> ${ref.name}}}` }, putting);
    const own = putting.faults.find(({ message }) => message.startsWith(`The partial ${ref.name} holds itself`));
    if (own) {
      const { message, fix, origin, at } = own;
      const { workspace } = ref;
      const where = around.reportOn({ kind: 'partial', workspace, name: origin.name });
      const coded = { code: 'template_text', facts: { message, fix, within: '' } } as const;
      const words = { ...coded, message, expected: 'a template that can be rendered', fix };
      where.fault(['text'], words, placeAt(origin.source, at));
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
    const coded = { code: 'layout_body_repeated', facts: { times: String(bodies) } } as const;
    const words = { ...coded, message, expected, fix: 'leave one of them' };
    report.fault(path, words, placeAt(text, text.lastIndexOf('{{{')));
  } else if (plain) {
    const fix = 'write {{{body}}}: with two braces it is a variable of that name';
    const coded = { code: 'layout_body_escaped', facts: {} } as const;
    const words = { ...coded, message: 'the layout has no {{{body}}}', expected, fix };
    report.fault(path, words, placeAt(text, plain.index));
  } else {
    const fix = 'write {{{body}}} where the text of the template goes';
    const coded = { code: 'layout_without_body', facts: {} } as const;
    const words = { ...coded, message: 'the layout has no {{{body}}}', expected, fix };
    report.fault(path, words, { line: 1, column: 1 });
  }
}

/** Faults that a text has by itself: blocks begin and end in it, and helpers are called as they are written. */
export function checkPiece(text: string, path: ValuePath, templates: TemplateCheck, report: Report): boolean {
  const faults = templates.piece(withoutPutIns(text));
  for (const { line, column, message, fix } of faults) {
    const coded = { code: 'template_text', facts: { message, fix, within: '' } } as const;
    report.fault(path, { ...coded, message, expected: 'a text that can be put in', fix }, { line, column });
  }
  return faults.length === 0;
}
