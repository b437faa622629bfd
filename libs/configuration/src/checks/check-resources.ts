import { findResource, resourceKey, type Configuration, type ResourceBodies, type Shelf } from '@carillon/domain';
import { isKind, type WantedResource } from '../resource.ts';
import { checkAccounts } from './accounts.ts';
import { checkCadence } from './cadence.ts';
import { checkCategories } from './categories.ts';
import { checkDigest } from './digests.ts';
import { checkEnvironment } from './environments.ts';
import { checkExpressions } from './expressions.ts';
import { type Fault, type Findings, reportOn, type Warning } from './finding.ts';
import { checkIdentities } from './identities.ts';
import { checkIntegration } from './integrations.ts';
import { checkLimits } from './limits.ts';
import { checkOpenRecipients } from './open-recipients.ts';
import { checkReferences } from './references.ts';
import { checkJwtProvider } from './security.ts';
import type { Check, CheckContext, Surroundings } from './surroundings.ts';
import { checkSignIn } from './sign-in.ts';
import { checkPutIn } from './put-ins.ts';
import { checkTemplate } from './templates.ts';

/** Everything that a shape cannot say of a resource. Files, API and portal go through this list. */
const CHECKS: readonly Check[] = [
  checkExpressions,
  checkPutIn,
  checkTemplate,
  checkAccounts,
  checkReferences,
  checkCategories,
  checkEnvironment,
  checkOpenRecipients,
  checkIntegration,
  checkJwtProvider,
  checkCadence,
  checkLimits,
  checkDigest,
  checkSignIn,
];

type Names = Surroundings['names'];

/**
 * All mistakes and warnings of these resources. `names` says which names are wanted, where that is more than the resources:
 * of a file that cannot be read only the name is known.
 */
export function checkResources(
  resources: readonly WantedResource[],
  context: CheckContext,
  names: Names = (kind, workspace) =>
    resources.flatMap(({ ref }) => (ref.kind === kind && ref.workspace === workspace ? [ref.name] : [])),
): Findings {
  const faults: Fault[] = [];
  const warnings: Warning[] = [];
  const around: Surroundings = {
    ...context,
    names,
    account: (workspace, name) =>
      resources
        .filter((item) => isKind(item, 'account'))
        .find(({ ref }) => ref.workspace === workspace && ref.name === name)?.body ??
      findResource(context.current, 'account', workspace, name)?.body,
    template: (workspace, name) => {
      const own = resources
        .filter((item) => isKind(item, 'template'))
        .find(({ ref }) => ref.workspace === workspace && ref.name === name)?.body;
      // One that is wanted and cannot be read is not what it was before.
      if (own || names('template', workspace).includes(name)) return own;
      return findResource(context.current, 'template', workspace, name)?.body;
    },
    shelf: (workspace) => shelfIn(resources, workspace, context.current),
    reportOn: (ref) => reportOn(ref, faults, warnings),
    integration: (workspace, name) =>
      resources
        .filter((item) => isKind(item, 'integration'))
        .find(({ ref }) => ref.workspace === workspace && ref.name === name)?.body ??
      findResource(context.current, 'integration', workspace, name)?.body,
    stream: (workspace, name) =>
      resources
        .filter((item) => isKind(item, 'stream'))
        .find(({ ref }) => ref.workspace === workspace && ref.name === name)?.body ??
      findResource(context.current, 'stream', workspace, name)?.body,
    workspace: (workspace) =>
      resources.filter((item) => isKind(item, 'workspace')).find(({ ref }) => ref.workspace === workspace)?.body ??
      findResource(context.current, 'workspace', workspace, '')?.body,
  };
  for (const resource of resources) {
    const report = reportOn(resource.ref, faults, warnings);
    for (const check of CHECKS) check(resource, around, report);
  }
  checkIdentities(resources, faults);
  return { faults: eachOnce(faults), warnings: eachOnce(warnings) };
}

/** Layouts and partials of a workspace as they are wanted, else as they are. */
export function shelfIn(resources: readonly WantedResource[], workspace: string, current: Configuration): Shelf {
  const wanted = new Map(
    resources.flatMap(({ ref, body }) =>
      ref.kind === 'layout' || ref.kind === 'partial' ? [[resourceKey(ref), body] as const] : [],
    ),
  );
  const take = <Kind extends 'layout' | 'partial'>(kind: Kind, name: string): ResourceBodies[Kind] | undefined =>
    (wanted.get(resourceKey({ kind, workspace, name })) as ResourceBodies[Kind] | undefined) ??
    findResource(current, kind, workspace, name)?.body;
  return { layout: (name) => take('layout', name), partial: (name) => take('partial', name) };
}

/** What several templates put in may be wrong once. */
export function eachOnce<Item extends Warning>(found: readonly Item[]): readonly Item[] {
  const told = new Set<string>();
  return found.filter(({ ref, path, spot, message }) => {
    const key = JSON.stringify([resourceKey(ref), path, spot, message]);
    return !told.has(key) && told.add(key);
  });
}
