import { similarTo } from '@carillon/kernel';
import { findResource } from '@carillon/domain/configuration';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { CheckedAgainst } from './check-context.ts';

export type NamedKind = 'template' | 'layout' | 'stream' | 'account' | 'integration' | 'jwt_provider';

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
  report.fault(path, {
    code: 'reference_unknown',
    facts: { kind, name, meant: meant ?? '', known: known.join(' or ') },
  });
}
