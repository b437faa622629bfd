import type { TemplateBody } from '@carillon/domain';
import { fileOf, templateFile } from './layout.ts';
import type { FileFault } from './place.ts';
import { readFile } from './read-file.ts';
import type { YamlSource } from './yaml-source.ts';

/** The files of one template folder that are there. */
export type TemplateParts = { yaml?: string; html?: string; text?: string };

export type ReadTemplate = {
  readonly source: YamlSource | null;
  readonly body: TemplateBody | null;
  readonly faults: readonly FileFault[];
};

/** Puts the files of a template together. */
export function readTemplate(workspace: string, name: string, parts: TemplateParts): ReadTemplate {
  const file = fileOf('email-template', workspace, name);
  const html = templateFile(workspace, name, 'html');
  const whole = (of: string, message: string, expected: string, fix: string): FileFault => ({
    file: of,
    path: '',
    line: 1,
    column: 1,
    message,
    expected,
    fix,
  });
  if (parts.yaml === undefined) {
    const fault = whole(file, 'email.yaml is missing', 'a file with the subject', `write subject: … into ${file}`);
    return { source: null, body: null, faults: [fault] };
  }
  const read = readFile('email-template', file, parts.yaml);
  const faults = [...read.faults];
  if (parts.html === undefined && parts.text === undefined) {
    faults.push(whole(file, 'the template has no body', 'email.html, email.txt or both', `write ${html}`));
  }
  for (const part of ['html', 'text'] as const) {
    if (parts[part]?.trim() !== '') continue;
    const empty = templateFile(workspace, name, part);
    faults.push(whole(empty, `${empty.split('/').at(-1)} is empty`, 'a body', 'write it or remove the file'));
  }
  if (faults.length > 0 || read.body === undefined) return { source: read.source, body: null, faults };
  const email = {
    ...read.body,
    ...(parts.html !== undefined && { html: parts.html }),
    ...(parts.text !== undefined && { text: parts.text }),
  };
  return { source: read.source, body: { email }, faults };
}
