import { similarTo } from '@carillon/kernel';
import { findResource } from '@carillon/domain/configuration';
import { fileOf, layoutFile, templateFile } from '../files/layout.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { CheckedAgainst } from './check-context.ts';

type FileIn = (workspace: string, name: string) => string;
const NAMED = {
  template: { file: (workspace, name) => templateFile(workspace, name, 'email.yaml'), words: 'template' },
  layout: { file: (workspace, name) => layoutFile(workspace, name, 'html'), words: 'layout' },
  stream: { file: (...of) => fileOf('stream', ...of), words: 'stream' },
  account: { file: (...of) => fileOf('account', ...of), words: 'account' },
  integration: { file: (...of) => fileOf('integration', ...of), words: 'integration' },
  jwt_provider: { file: (...of) => fileOf('jwt-provider', ...of), words: 'JWT provider' },
} as const satisfies Readonly<Record<string, { readonly file: FileIn; readonly words: string }>>;
export type NamedKind = keyof typeof NAMED;

/** Reports a name of which there is no resource, neither among those wanted nor in the configuration. */
export function checkName(
  path: ValuePath,
  { kind, workspace, name }: { readonly kind: NamedKind; readonly workspace: string; readonly name: string },
  around: Pick<CheckedAgainst, 'names' | 'current'>,
  report: Report,
): void {
  const known = around.names(kind, workspace);
  if (known.includes(name) || findResource(around.current, kind, workspace, name)) return;
  const meant = similarTo(name, known);
  const { file, words } = NAMED[kind];
  report.fault(path, {
    code: 'reference_unknown',
    facts: { kind, name, meant: meant ?? '' },
    message: `there is no ${words} ${name}`,
    expected: known.length === 0 ? `the name of a ${words}` : known.join(' or '),
    fix: meant === null ? `write ${file(workspace, name)}` : `did you mean ${meant}?`,
  });
}
