import type { TemplateBody } from '@carillon/domain';
import type { FileBodies } from '@carillon/shapes';
import { fileOf, TEMPLATE_FILES, templateFile, type TemplateFile, type TemplateYaml } from './layout.ts';
import type { FileFault } from './place.ts';
import { readFile } from './read-file.ts';
import { salvage } from './salvage.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

/** The files of one template folder that are there. */
export type TemplateParts = { [File in TemplateFile | TemplateYaml]?: string };

export type ReadTemplate = {
  readonly sources: { readonly [File in TemplateYaml]?: YamlSource };
  /** With mistakes: what of it can still be looked at. */
  readonly body: TemplateBody;
  readonly faults: readonly FileFault[];
};

type Reading = { readonly workspace: string; readonly name: string; readonly faults: FileFault[] };

/** Puts the files of a template together. A mistake in one of them does not hide those in the others. */
export function readTemplate(workspace: string, name: string, parts: TemplateParts): ReadTemplate {
  const reading: Reading = { workspace, name, faults: [] };
  const {
    'email-template': head,
    'email.html': html,
    'email.txt': text,
    'sms.txt': sms,
    'push-template': yaml,
  } = parts;
  for (const file of Object.keys(TEMPLATE_FILES) as TemplateFile[]) {
    if (parts[file]?.trim() !== '') continue;
    whole(reading, templateFile(workspace, name, file), `${file} is empty`, 'a body', 'write it or remove the file');
  }
  const hasEmail = head !== undefined || html !== undefined || text !== undefined;
  const email = hasEmail ? readEmail(head, html, text, reading) : undefined;
  const push = yaml === undefined ? undefined : readPush(yaml, reading);
  return {
    sources: { ...(email && { 'email-template': email.source }), ...(push && { 'push-template': push.source }) },
    body: {
      ...(email && { email: email.body }),
      ...(sms !== undefined && { sms: { text: sms } }),
      ...(push && { push: push.body }),
    },
    faults: reading.faults,
  };
}

const whole = ({ faults }: Reading, file: string, message: string, expected: string, fix: string): void =>
  void faults.push({ file, path: '', line: 1, column: 1, message, expected, fix });

function readEmail(yaml: string | undefined, html: string | undefined, text: string | undefined, reading: Reading) {
  const { workspace, name, faults } = reading;
  const file = fileOf('email-template', workspace, name);
  const read = yaml === undefined ? undefined : readFile('email-template', file, yaml);
  if (read) faults.push(...read.faults);
  else whole(reading, file, 'email.yaml is missing', 'a file with the subject', `write subject: … into ${file}`);
  if (read && html === undefined && text === undefined) {
    const fix = `write ${templateFile(workspace, name, 'email.html')}`;
    whole(reading, file, 'the template has no body', 'email.html, email.txt or both', fix);
  }
  const source = read?.source ?? readYaml(file, '');
  const head = read?.body ?? salvage('email-template', read?.value ?? {}, source) ?? { subject: 'any' };
  return { source, body: { ...head, ...(html !== undefined && { html }), ...(text !== undefined && { text }) } };
}

function readPush(yaml: string, { workspace, name, faults }: Reading) {
  const {
    source,
    body,
    value,
    faults: found,
  } = readFile('push-template', fileOf('push-template', workspace, name), yaml);
  faults.push(...found);
  // Of one that cannot be read at all nothing is said but that.
  const unread: FileBodies['push-template'] = { title: 'any' };
  return { source, body: body ?? salvage('push-template', value, source) ?? unread };
}
