import { canonicalLocale } from '@carillon/domain/templates';
import { isLocale } from '@carillon/kernel';
import { type FileKind, SLUG } from '@carillon/shapes';
import type { WrittenKind } from '../resource.ts';
import { meantLocale } from './meant-locality.ts';

/** Files of a template's folder that hold one part and nothing else, and the part that each holds. */
export const TEMPLATE_FILES = {
  'email.html': ['email', 'html'],
  'email.mjml': ['email', 'mjml'],
  'email.txt': ['email', 'text'],
  'sms.txt': ['sms', 'text'],
} as const;
export type TemplateFile = keyof typeof TEMPLATE_FILES;

/** The YAML files of a template's folder, and what each is in one language. */
export const TEMPLATE_YAML = {
  'email.yaml': { channel: 'email', base: 'email-template', variant: 'email-variant' },
  'push.yaml': { channel: 'push', base: 'push-template', variant: 'push-variant' },
} as const;
export type TemplateYaml = keyof typeof TEMPLATE_YAML;

/** Files of a layout by the kind of body they wrap, with the key that each file holds. */
export const LAYOUT_FILES = { html: 'html', mjml: 'mjml', txt: 'text' } as const;
export type LayoutFile = keyof typeof LAYOUT_FILES;

const isTemplateFile = (file: string): file is TemplateFile => Object.hasOwn(TEMPLATE_FILES, file);
const isTemplateYaml = (file: string): file is TemplateYaml => Object.hasOwn(TEMPLATE_YAML, file);
const isLayoutFile = (ending: string): ending is LayoutFile => Object.hasOwn(LAYOUT_FILES, ending);

/** Role of a file, derived from its path. */
export type FileRole =
  | {
      readonly role: 'yaml';
      readonly kind: Exclude<FileKind, TemplateFileKind>;
      readonly workspace: string;
      readonly name: string;
    }
  | {
      readonly role: 'template-part';
      /** Name of the file without a language. */
      readonly file: TemplateFile | TemplateYaml;
      readonly locale: string | null;
      readonly workspace: string;
      readonly name: string;
    }
  | { readonly role: 'layout'; readonly file: LayoutFile; readonly workspace: string; readonly name: string }
  | { readonly role: 'partial'; readonly workspace: string; readonly name: string }
  | { readonly role: 'bad-name'; readonly name: string }
  | { readonly role: 'bad-locale'; readonly locale: string; readonly meant: string | null }
  | { readonly role: 'unknown' }
  | { readonly role: 'ignored' };

/** Kinds of files that are one template together with others. */
export type TemplateFileKind = (typeof TEMPLATE_YAML)[TemplateYaml]['base' | 'variant'];

const FOLDERS: Readonly<Record<string, Exclude<FileKind, TemplateFileKind>>> = {
  streams: 'stream',
  notifications: 'notification',
  accounts: 'account',
  'jwt-providers': 'jwt-provider',
  integrations: 'integration',
};

/** Notes, editor schemas, hidden files and cases for `carillon test` may be in the folder. All other files are read. */
const IGNORED = /(?:^|\/)\.|\.md$|\.schema\.json$|(?:^|\/)LICENSE$|^workspaces\/[^/]+\/tests\//;

export function roleOf(path: string): FileRole {
  if (IGNORED.test(path)) return { role: 'ignored' };
  if (path === 'carillon.yaml') return { role: 'yaml', kind: 'deployment', workspace: '', name: '' };
  const [top, workspace = '', folder = '', ...rest] = path.split('/');
  if (top !== 'workspaces' || folder === '') return { role: 'unknown' };
  if (!SLUG.test(workspace)) return { role: 'bad-name', name: workspace };
  const [file = '', inner] = rest;
  if (rest.length === 0) {
    return folder === 'workspace.yaml' ? { role: 'yaml', kind: 'workspace', workspace, name: '' } : { role: 'unknown' };
  }
  if (folder === 'templates' && rest.length === 2) return templateRole(workspace, file, inner ?? '');
  if (folder === 'layouts' || folder === 'partials') {
    return rest.length === 1 ? putInRole(folder, workspace, file) : { role: 'unknown' };
  }
  const kind = FOLDERS[folder];
  if (!kind || rest.length !== 1 || !file.endsWith('.yaml')) return { role: 'unknown' };
  const name = file.slice(0, -'.yaml'.length);
  return SLUG.test(name) ? { role: 'yaml', kind, workspace, name } : { role: 'bad-name', name };
}

/** `sms.de-AT.txt` is `sms.txt` in the German of Austria. */
const IN_A_LANGUAGE = /^([a-z]+)\.([A-Za-z0-9_@-]+)\.([a-z]+)$/;

function templateRole(workspace: string, name: string, written: string): FileRole {
  if (!SLUG.test(name)) return { role: 'bad-name', name };
  const [, channel = '', language = null, ending = ''] = IN_A_LANGUAGE.exec(written) ?? [];
  const file = language === null ? written : `${channel}.${ending}`;
  if (!isTemplateFile(file) && !isTemplateYaml(file)) return { role: 'unknown' };
  if (language !== null && !(isLocale(language) && canonicalLocale(language) === language)) {
    return { role: 'bad-locale', locale: language, meant: meantLocale(language) };
  }
  return { role: 'template-part', file, locale: language, workspace, name };
}

function putInRole(folder: 'layouts' | 'partials', workspace: string, written: string): FileRole {
  const dot = written.lastIndexOf('.');
  const [name, ending] = [written.slice(0, Math.max(0, dot)), written.slice(dot + 1)];
  const layout = folder === 'layouts';
  if (!(layout ? isLayoutFile(ending) : ending === 'hbs')) return { role: 'unknown' };
  if (!SLUG.test(name)) return { role: 'bad-name', name };
  if (!layout) return { role: 'partial', workspace, name };
  return isLayoutFile(ending) ? { role: 'layout', file: ending, workspace, name } : { role: 'unknown' };
}

/** The kind of a template's file; null where it holds one part and nothing else. */
export function yamlKind(file: TemplateFile | TemplateYaml, locale: string | null): TemplateFileKind | null {
  return isTemplateYaml(file) ? TEMPLATE_YAML[file][locale === null ? 'base' : 'variant'] : null;
}

/** Kinds that have one YAML file each. */
export const FILE_KINDS = {
  deployment: 'deployment',
  workspace: 'workspace',
  stream: 'stream',
  notification: 'notification',
  account: 'account',
  integration: 'integration',
  jwt_provider: 'jwt-provider',
} as const satisfies { readonly [Kind in WrittenKind]?: FileKind };

/** Where the folder keeps the file of a kind that has one for each resource: the inverse of `roleOf`. */
export function fileOf(kind: Exclude<FileKind, TemplateFileKind>, workspace: string, name: string): string {
  const root = `workspaces/${workspace}`;
  switch (kind) {
    case 'deployment':
      return 'carillon.yaml';
    case 'workspace':
      return `${root}/workspace.yaml`;
    case 'stream':
      return `${root}/streams/${name}.yaml`;
    case 'notification':
      return `${root}/notifications/${name}.yaml`;
    case 'account':
      return `${root}/accounts/${name}.yaml`;
    case 'jwt-provider':
      return `${root}/jwt-providers/${name}.yaml`;
    case 'integration':
      return `${root}/integrations/${name}.yaml`;
  }
}

/** Where the folder keeps a file of a template, in a language or for everybody who has none of the others. */
export function templateFile(
  workspace: string,
  name: string,
  file: TemplateFile | TemplateYaml,
  locale: string | null = null,
): string {
  return `workspaces/${workspace}/templates/${name}/${locale === null ? file : file.replace('.', `.${locale}.`)}`;
}

export const layoutFile = (workspace: string, name: string, file: LayoutFile): string =>
  `workspaces/${workspace}/layouts/${name}.${file}`;
export const partialFile = (workspace: string, name: string): string => `workspaces/${workspace}/partials/${name}.hbs`;
