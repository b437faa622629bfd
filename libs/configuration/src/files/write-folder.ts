import { type Configuration, type LayoutBody, resourceKey, type TemplateBody } from '@carillon/domain/configuration';
import { Document, isScalar, Scalar, stringify } from 'yaml';
import { FILE_SHAPES, type FileKind, isExpressionLeaf, type StartSettings } from '@carillon/shapes';
import { writtenBody } from '../bodies/body-schema.ts';
import { isKind, isWritten, type WantedResource } from '../resource.ts';
import { FILE_KINDS, fileOf, LAYOUT_FILES, layoutFile, partialFile, templateFile, type LayoutFile } from './layout.ts';
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
  for (const resource of resources.filter(isWritten)) writeResource(files, resource, start);
  return files;
}

/** Adds the files of one resource, by their paths in the folder. */
function writeResource(files: Map<string, string>, resource: WantedResource, start: StartSettings = {}): void {
  const { kind, workspace, name } = resource.ref;
  if (isKind(resource, 'template')) writeTemplate(files, workspace, name, resource.body);
  else if (isKind(resource, 'deployment'))
    files.set(fileOf('deployment', '', ''), yamlOf('deployment', { ...start, ...resource.body }));
  else if (isKind(resource, 'layout')) writeLayout(files, workspace, name, resource.body);
  else if (isKind(resource, 'partial')) files.set(partialFile(workspace, name), resource.body.text);
  else if (hasOneFile(kind))
    files.set(fileOf(FILE_KINDS[kind], workspace, name), yamlOf(FILE_KINDS[kind], resource.body));
}

/** The same by path. */
export function resourceFiles(resource: WantedResource): Map<string, string> {
  const files = new Map<string, string>();
  writeResource(files, resource);
  return files;
}

/** The resource as one YAML text: its file; of templates, layouts and partials, whose files are several or no YAML, their body. */
export function resourceYaml(resource: WantedResource): string {
  const { kind } = resource.ref;
  if (hasOneFile(kind)) return yamlOf(FILE_KINDS[kind], resource.body);
  return stringify(writtenBody(resource), { lineWidth: 0 });
}

const hasOneFile = (kind: string): kind is keyof typeof FILE_KINDS => Object.hasOwn(FILE_KINDS, kind);

function writeTemplate(files: Map<string, string>, workspace: string, name: string, body: TemplateBody): void {
  const { email, sms, push } = body;
  const fileIn = (locale: string | null) => (file: Parameters<typeof templateFile>[2]) =>
    templateFile(workspace, name, file, locale);
  if (email) {
    const { locales = {}, ...base } = email;
    writeEmail(files, fileIn(null), 'email-template', base);
    for (const [locale, own] of Object.entries(locales)) writeEmail(files, fileIn(locale), 'email-variant', own);
  }
  if (sms) {
    files.set(fileIn(null)('sms.txt'), sms.text);
    for (const [locale, { text }] of Object.entries(sms.locales ?? {})) files.set(fileIn(locale)('sms.txt'), text);
  }
  if (push) {
    const { locales = {}, ...base } = push;
    files.set(fileIn(null)('push.yaml'), yamlOf('push-template', base));
    for (const [locale, own] of Object.entries(locales)) {
      files.set(fileIn(locale)('push.yaml'), yamlOf('push-variant', own));
    }
  }
}

/** Compiled parts are not written; their source is. */
function writeEmail(
  files: Map<string, string>,
  fileIn: (file: 'email.yaml' | 'email.html' | 'email.mjml' | 'email.txt') => string,
  kind: 'email-template' | 'email-variant',
  { html, mjml, text, ...head }: Omit<NonNullable<TemplateBody['email']>, 'locales'>,
): void {
  files.set(fileIn('email.yaml'), yamlOf(kind, head));
  if (mjml !== undefined) files.set(fileIn('email.mjml'), mjml);
  else if (html !== undefined) files.set(fileIn('email.html'), html);
  if (text !== undefined) files.set(fileIn('email.txt'), text);
}

function writeLayout(files: Map<string, string>, workspace: string, name: string, body: LayoutBody): void {
  for (const [file, key] of Object.entries(LAYOUT_FILES)) {
    const text = body[key];
    if (text !== undefined) files.set(layoutFile(workspace, name, file as LayoutFile), text);
  }
}

/** Returns a body as YAML. An expression that YAML would quote is written after `|`, where it stays unchanged. */
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
