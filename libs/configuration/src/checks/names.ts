import { findResource, type Configuration, type IntegrationBody, type ResourceKind } from '@carillon/domain';
import { whereOf } from './expressions.ts';
import { fileOf } from '../files/layout.ts';
import type { FileFault, FileWarning, ValuePath } from '../files/place.ts';
import { similarTo } from '../files/similar.ts';
import type { YamlSource } from '../files/yaml-source.ts';

/** What a resource may refer to: the folder, files with mistakes in them included, and what was there before. */
export type Surroundings = {
  readonly current: Configuration;
  /** Names in the folder by kind and workspace. */
  names(kind: ResourceKind, workspace: string): readonly string[];
  /** What an integration is, as the folder or else the configuration has it. */
  integration(workspace: string, name: string): IntegrationBody | undefined;
};
export type Report = { readonly faults: FileFault[]; readonly warnings: FileWarning[] };

const NAMED = {
  template: { file: 'email-template', words: 'template' },
  stream: { file: 'stream', words: 'stream' },
  account: { file: 'account', words: 'account' },
  integration: { file: 'integration', words: 'integration' },
  jwt_provider: { file: 'jwt-provider', words: 'JWT provider' },
} as const;
export type NamedKind = keyof typeof NAMED;

/** Reports a name of which there is no resource, neither in the folder nor in the configuration. */
export function checkName(
  path: ValuePath,
  kind: NamedKind,
  workspace: string,
  name: string,
  source: YamlSource,
  around: Surroundings,
  report: Report,
): void {
  const known = around.names(kind, workspace);
  if (known.includes(name) || findResource(around.current, kind, workspace, name)) return;
  const meant = similarTo(name, known);
  const { file, words } = NAMED[kind];
  report.faults.push({
    ...whereOf(source, path),
    message: `there is no ${words} ${name}`,
    expected: known.length === 0 ? `the name of a ${words}` : known.join(' or '),
    fix: meant === null ? `write ${fileOf(file, workspace, name)}` : `did you mean ${meant}?`,
  });
}
