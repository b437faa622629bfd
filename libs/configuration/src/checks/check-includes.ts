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
    const own = putting.faults.find(({ message }) => message.startsWith(`The partial ${ref.name} includes itself`));
    if (own) {
      const { message, fix, origin, at } = own;
      const { workspace } = ref;
      const where = around.reportOn({ kind: 'partial', workspace, name: origin.name });
      const coded = { code: 'template_text', facts: { message, fix, within: '' } } as const;
      where.fault(['text'], coded, placeAt(origin.source, at));
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
  if (bodies > 1) {
    const coded = { code: 'layout_body_repeated', facts: { times: String(bodies) } } as const;
    report.fault(path, coded, placeAt(text, text.lastIndexOf('{{{')));
  } else if (plain) {
    report.fault(path, { code: 'layout_body_escaped', facts: {} }, placeAt(text, plain.index));
  } else {
    report.fault(path, { code: 'layout_without_body', facts: {} }, { line: 1, column: 1 });
  }
}

/** Reports mistakes within a single text: unbalanced blocks, and wrong calls of helpers. */
export function checkPiece(text: string, path: ValuePath, templates: TemplateCheck, report: Report): boolean {
  const faults = templates.piece(withoutPutIns(text));
  for (const { line, column, message, fix } of faults) {
    const coded = { code: 'template_text', facts: { message, fix, within: '' } } as const;
    report.fault(path, coded, { line, column });
  }
  return faults.length === 0;
}
