import { type FileKind, SLUG } from '@carillon/shapes';
import type { WrittenKind } from '../resource.ts';

/** Files of a template's folder that hold one part and nothing else, and the part that each holds. */
export const TEMPLATE_FILES = {
  'email.html': ['email', 'html'],
  'email.txt': ['email', 'text'],
  'sms.txt': ['sms', 'text'],
} as const;
export type TemplateFile = keyof typeof TEMPLATE_FILES;

/** The YAML files of a template's folder, and the channel that each is of. */
export const TEMPLATE_YAML = { 'email-template': 'email', 'push-template': 'push' } as const;
export type TemplateYaml = keyof typeof TEMPLATE_YAML;

const isTemplateFile = (file: string): file is TemplateFile => Object.hasOwn(TEMPLATE_FILES, file);

/** What a path of the folder says about its file. */
export type FileRole =
  | { readonly role: 'yaml'; readonly kind: FileKind; readonly workspace: string; readonly name: string }
  | {
      readonly role: 'template-part';
      readonly part: TemplateFile;
      readonly workspace: string;
      readonly name: string;
    }
  | { readonly role: 'bad-name'; readonly name: string }
  | { readonly role: 'unknown' }
  | { readonly role: 'ignored' };

const FOLDERS: Readonly<Record<string, FileKind>> = {
  streams: 'stream',
  notifications: 'notification',
  accounts: 'account',
  'jwt-providers': 'jwt-provider',
  integrations: 'integration',
};

/** Notes, editor schemas and hidden files may lie in the folder; everything else has to be something that we read. */
const IGNORED = /(?:^|\/)\.|\.md$|\.schema\.json$|(?:^|\/)LICENSE$/;

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
  const kind = FOLDERS[folder];
  if (!kind || rest.length !== 1 || !file.endsWith('.yaml')) return { role: 'unknown' };
  const name = file.slice(0, -'.yaml'.length);
  return SLUG.test(name) ? { role: 'yaml', kind, workspace, name } : { role: 'bad-name', name };
}

function templateRole(workspace: string, name: string, file: string): FileRole {
  if (!SLUG.test(name)) return { role: 'bad-name', name };
  if (file === 'email.yaml') return { role: 'yaml', kind: 'email-template', workspace, name };
  if (file === 'push.yaml') return { role: 'yaml', kind: 'push-template', workspace, name };
  return isTemplateFile(file) ? { role: 'template-part', part: file, workspace, name } : { role: 'unknown' };
}

/** The file that a resource is written in, of a template the one with its subject. */
export const FILE_KINDS: Readonly<Record<WrittenKind, FileKind>> = {
  deployment: 'deployment',
  workspace: 'workspace',
  stream: 'stream',
  notification: 'notification',
  template: 'email-template',
  account: 'account',
  integration: 'integration',
  jwt_provider: 'jwt-provider',
};

/** Where the folder keeps a resource: the inverse of `roleOf` for the main file of each kind. */
export function fileOf(kind: FileKind, workspace: string, name: string): string {
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
    case 'email-template':
      return `${root}/templates/${name}/email.yaml`;
    case 'push-template':
      return `${root}/templates/${name}/push.yaml`;
  }
}

/** Where the folder keeps a part of a template that has a file of its own. */
export const templateFile = (workspace: string, name: string, file: TemplateFile): string =>
  `workspaces/${workspace}/templates/${name}/${file}`;
