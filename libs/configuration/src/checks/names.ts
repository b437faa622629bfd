import { findResource } from '@carillon/domain';
import { fileOf } from '../files/layout.ts';
import { similarTo } from '../similar.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Surroundings } from './surroundings.ts';

const NAMED = {
  template: { file: 'email-template', words: 'template' },
  stream: { file: 'stream', words: 'stream' },
  account: { file: 'account', words: 'account' },
  integration: { file: 'integration', words: 'integration' },
  jwt_provider: { file: 'jwt-provider', words: 'JWT provider' },
} as const;
export type NamedKind = keyof typeof NAMED;

/** Reports a name of which there is no resource, neither among those wanted nor in the configuration. */
export function checkName(
  path: ValuePath,
  kind: NamedKind,
  workspace: string,
  name: string,
  around: Surroundings,
  report: Report,
): void {
  const known = around.names(kind, workspace);
  if (known.includes(name) || findResource(around.current, kind, workspace, name)) return;
  const meant = similarTo(name, known);
  const { file, words } = NAMED[kind];
  report.fault(path, {
    message: `there is no ${words} ${name}`,
    expected: known.length === 0 ? `the name of a ${words}` : known.join(' or '),
    fix: meant === null ? `write ${fileOf(file, workspace, name)}` : `did you mean ${meant}?`,
  });
}
