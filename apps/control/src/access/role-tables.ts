import { ROLES, TOKEN_SCOPES } from '@carillon/domain/people';
import { PERMISSION_WORDS, PERMISSIONS, ROLES_WITH, SCOPE_PERMISSIONS } from './permission.ts';

const mark = (has: boolean): string => (has ? '●' : '–');
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
const head = (cells: readonly string[]): string => row(cells) + row(cells.map(() => '---'));

/** Returns the permissions of roles and token scopes as Markdown tables. */
export const roleTables = (): string =>
  head(['permission', 'what it allows', ...ROLES]) +
  PERMISSIONS.map((permission) =>
    row([
      `\`${permission}\``,
      PERMISSION_WORDS[permission],
      ...ROLES.map((role) => mark(ROLES_WITH[permission].includes(role))),
    ]),
  ).join('') +
  `\n${head(['permission', ...TOKEN_SCOPES.map((scope) => `scope \`${scope}\``)])}` +
  PERMISSIONS.map((permission) =>
    row([`\`${permission}\``, ...TOKEN_SCOPES.map((scope) => mark(SCOPE_PERMISSIONS[scope].includes(permission)))]),
  ).join('');
