import type { ResourceRef } from '@carillon/domain/configuration';
import { isKind, type WantedResource } from '../resource.ts';
import { includesIn } from './check-resources.ts';
import { checkExpressions } from './expressions.ts';
import { type Fault, reportOn } from './finding.ts';
import type { CheckContext } from './check-context.ts';
import { checkFrom } from './sources.ts';
import { checkTemplate } from './templates.ts';

/**
 * Returns the mistakes of what was salvaged that need nothing it refers to, which may be what was taken out: in expressions and
 * templates, and between the settings of a stream.
 */
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
  const inTexts = faults.filter(({ spot }) => typeof spot === 'object');
  const ofStream: Fault[] = [];
  if (isKind(resource, 'stream') && resource.body.from !== undefined) {
    checkFrom(resource.body, resource.body.from, reportOn(resource.ref, ofStream, []));
  }
  return [...inTexts, ...ofStream];
}
