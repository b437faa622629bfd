import type { EmailTemplate } from '@carillon/domain';
import type { TemplateCheck, TemplateRemark } from './desired.ts';
import { fileOf } from './layout.ts';
import { type FileFault, type FileWarning, pathText } from './place.ts';
import { readFile } from './read-file.ts';
import type { YamlSource } from './yaml-source.ts';

/** The files of one template folder that are there. */
export type TemplateParts = { yaml?: string; html?: string; text?: string };

export type ReadTemplate = {
  readonly source: YamlSource | null;
  readonly email: EmailTemplate | null;
  readonly faults: readonly FileFault[];
  readonly warnings: readonly FileWarning[];
};

/** Puts the files of a template together and checks them as the renderer will read them. */
export function readTemplate(
  workspace: string,
  name: string,
  parts: TemplateParts,
  templates: TemplateCheck,
): ReadTemplate {
  const file = fileOf('email-template', workspace, name);
  const folder = file.slice(0, -'email.yaml'.length);
  const whole = (message: string, expected: string, fix: string): FileFault => ({
    file,
    path: '',
    line: 1,
    column: 1,
    message,
    expected,
    fix,
  });
  if (parts.yaml === undefined) {
    const fault = whole('email.yaml is missing', 'a file with the subject', `write subject: … into ${file}`);
    return { source: null, email: null, faults: [fault], warnings: [] };
  }
  const read = readFile('email-template', file, parts.yaml);
  const faults = [...read.faults];
  if (parts.html === undefined && parts.text === undefined) {
    faults.push(whole('the template has no body', 'email.html, email.txt or both', `write ${folder}email.html`));
  }
  for (const [part, text] of [
    ['email.html', parts.html],
    ['email.txt', parts.text],
  ] as const) {
    if (text?.trim() !== '') continue;
    faults.push({ ...whole(`${part} is empty`, 'a body', 'write it or remove the file'), file: `${folder}${part}` });
  }
  if (faults.length > 0 || read.body === undefined) return { source: read.source, email: null, faults, warnings: [] };
  const email: EmailTemplate = {
    ...read.body,
    ...(parts.html !== undefined && { html: parts.html }),
    ...(parts.text !== undefined && { text: parts.text }),
  };
  const placed = ({ part, line, column, message, fix }: TemplateRemark): FileWarning => {
    const inYaml = part === 'subject' || part === 'from';
    return {
      file: inYaml ? file : `${folder}${part === 'html' ? 'email.html' : 'email.txt'}`,
      path: inYaml ? pathText([part]) : '',
      ...(inYaml ? read.source.innerPlace([part], { line, column }) : { line, column }),
      message,
      fix,
    };
  };
  for (const fault of templates.check(email)) {
    faults.push({ ...placed(fault), expected: 'a template that can be rendered' });
  }
  return { source: read.source, email, faults, warnings: templates.warnings(email).map(placed) };
}
