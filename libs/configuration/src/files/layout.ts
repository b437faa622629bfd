import { type FileKind, SLUG } from '@carillon/shapes';
import type { WrittenKind } from '../resource.ts';

/** What a path of the folder says about its file. */
export type FileRole =
  | { readonly role: 'yaml'; readonly kind: FileKind; readonly workspace: string; readonly name: string }
  | {
      readonly role: 'template-part';
      readonly part: 'html' | 'text';
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
  switch (file) {
    case 'email.yaml':
      return { role: 'yaml', kind: 'email-template', workspace, name };
    case 'email.html':
      return { role: 'template-part', part: 'html', workspace, name };
    case 'email.txt':
      return { role: 'template-part', part: 'text', workspace, name };
    default:
      return { role: 'unknown' };
  }
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
  }
}

/** Where the folder keeps a body of a template. */
export const templateFile = (workspace: string, name: string, part: 'html' | 'text'): string =>
  `workspaces/${workspace}/templates/${name}/email.${part === 'html' ? 'html' : 'txt'}`;
