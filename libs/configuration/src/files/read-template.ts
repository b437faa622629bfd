import type { TemplateBody } from '@carillon/domain';
import { fileOf, templateFile } from './layout.ts';
import type { FileFault } from './place.ts';
import { readFile } from './read-file.ts';
import { salvage } from './salvage.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

/** The files of one template folder that are there. */
export type TemplateParts = { yaml?: string; html?: string; text?: string };

export type ReadTemplate = {
  readonly source: YamlSource;
  /** With mistakes: what of it can still be looked at. */
  readonly body: TemplateBody;
  readonly faults: readonly FileFault[];
};

/** Puts the files of a template together. A mistake in one of them does not hide those in the others. */
export function readTemplate(workspace: string, name: string, parts: TemplateParts): ReadTemplate {
  const file = fileOf('email-template', workspace, name);
  const faults: FileFault[] = [];
  const whole = (of: string, message: string, expected: string, fix: string): void => {
    faults.push({ file: of, path: '', line: 1, column: 1, message, expected, fix });
  };
  const { yaml, html, text } = parts;
  const read = yaml === undefined ? undefined : readFile('email-template', file, yaml);
  if (read) faults.push(...read.faults);
  else whole(file, 'email.yaml is missing', 'a file with the subject', `write subject: … into ${file}`);
  if (read && html === undefined && text === undefined) {
    const fix = `write ${templateFile(workspace, name, 'html')}`;
    whole(file, 'the template has no body', 'email.html, email.txt or both', fix);
  }
  for (const part of ['html', 'text'] as const) {
    if (parts[part]?.trim() !== '') continue;
    const empty = templateFile(workspace, name, part);
    whole(empty, `${empty.split('/').at(-1)} is empty`, 'a body', 'write it or remove the file');
  }
  const source = read?.source ?? readYaml(file, '');
  const head = read?.body ?? salvage('email-template', read?.value ?? {}, source) ?? { subject: 'any' };
  const email = { ...head, ...(html !== undefined && { html }), ...(text !== undefined && { text }) };
  return { source, body: { email }, faults };
}
