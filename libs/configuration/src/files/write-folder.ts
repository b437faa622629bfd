import { type Configuration, resourceKey, type TemplateBody } from '@carillon/domain';
import { Document, isScalar, Scalar, stringify } from 'yaml';
import { FILE_SHAPES, type FileKind, isExpressionLeaf, type StartSettings } from '@carillon/shapes';
import { isKind, isWritten } from '../resource.ts';
import { FILE_KINDS, fileOf, templateFile } from './layout.ts';
import { walkShape } from './walk-shape.ts';

/**
 * The folder that reads back as this configuration: ids and paths written, keys in the order of the reference,
 * expressions plain where YAML allows and else after `|`. API keys are not written. `start` holds what carillon.yaml says
 * besides: the log does not know it.
 */
export function writeConfigurationFolder(configuration: Configuration, start: StartSettings = {}): Map<string, string> {
  const files = new Map<string, string>();
  const resources = [...configuration.resources.values()].toSorted((a, b) =>
    resourceKey(a.ref) < resourceKey(b.ref) ? -1 : 1,
  );
  for (const resource of resources.filter(isWritten)) {
    const { kind, workspace, name } = resource.ref;
    if (isKind(resource, 'template')) writeTemplate(files, workspace, name, resource.body);
    else if (isKind(resource, 'deployment'))
      files.set(fileOf('deployment', '', ''), yamlOf('deployment', { ...start, ...resource.body }));
    else files.set(fileOf(FILE_KINDS[kind], workspace, name), yamlOf(FILE_KINDS[kind], resource.body));
  }
  return files;
}

function writeTemplate(files: Map<string, string>, workspace: string, name: string, body: TemplateBody): void {
  const { email, sms, push } = body;
  if (email) {
    const { html, text, ...rest } = email;
    files.set(fileOf('email-template', workspace, name), yamlOf('email-template', rest));
    if (html !== undefined) files.set(templateFile(workspace, name, 'email.html'), html);
    if (text !== undefined) files.set(templateFile(workspace, name, 'email.txt'), text);
  }
  if (sms) files.set(templateFile(workspace, name, 'sms.txt'), sms.text);
  if (push) files.set(fileOf('push-template', workspace, name), yamlOf('push-template', push));
}

/** The document of a body: an expression that YAML would quote goes after `|`, where it stands as it is. */
export function yamlOf(kind: FileKind, body: unknown): string {
  const document = new Document(body);
  const ordered = walkShape(FILE_SHAPES[kind], body, (schema, value) => {
    const scalar = document.createNode(value);
    if (isExpressionLeaf(schema) && isScalar(scalar) && isQuoted(String(value))) scalar.type = Scalar.BLOCK_LITERAL;
    return scalar;
  });
  document.contents = document.createNode(ordered);
  return document.toString({ lineWidth: 0 });
}

const isQuoted = (text: string): boolean => /^["'|>]/.test(stringify(text, { lineWidth: 0 }));
