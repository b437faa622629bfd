import type { ResourceRef } from '@carillon/domain/configuration';
import type { WantedResource } from '../resource.ts';
import { includesIn } from './check-resources.ts';
import { checkExpressions } from './expressions.ts';
import { type Fault, reportOn } from './finding.ts';
import type { CheckContext } from './check-context.ts';
import { checkTemplate } from './templates.ts';

/** Mistakes within the expressions and templates of what was salvaged: what it refers to may be what was taken out. */
export function faultsOfTexts(
  resource: WantedResource,
  read: readonly WantedResource[],
  context: CheckContext,
): readonly Fault[] {
  const faults: Fault[] = [];
  const around = {
    ...context,
    names: () => [],
    template: () => undefined,
    includes: (workspace: string) => includesIn(read, workspace, context.current),
    reportOn: (ref: ResourceRef) => reportOn(ref, [], []),
    account: () => undefined,
    integration: () => undefined,
    stream: () => undefined,
    workspace: () => undefined,
  };
  for (const check of [checkExpressions, checkTemplate]) check(resource, around, reportOn(resource.ref, faults, []));
  return faults.filter(({ spot }) => typeof spot === 'object');
}
