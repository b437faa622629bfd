import {
  findResource,
  resourceKey,
  type Configuration,
  type ResourceBodies,
  type ResourceKind,
} from '@carillon/domain/configuration';
import type { TemplateIncludes } from '@carillon/domain/templates';
import { runToCompletion, type Coroutine } from '@carillon/kernel';
import type { WantedResource } from '../resource.ts';
import { checkAccounts } from './accounts.ts';
import { checkCadence } from './cadence.ts';
import { checkCategories } from './categories.ts';
import { checkDigest } from './digests.ts';
import { checkEnvironment } from './environments.ts';
import { checkEveryEvent } from './every-event.ts';
import { checkExpressions } from './expressions.ts';
import { type Fault, type Findings, reportOn, type Warning } from './finding.ts';
import { checkIdentities } from './identities.ts';
import { checkIntegration } from './integrations.ts';
import { checkLimits } from './limits.ts';
import { checkOpenRecipients } from './open-recipients.ts';
import { checkReferences } from './references.ts';
import { checkJwtProvider } from './security.ts';
import type { Check, CheckContext, CheckedAgainst } from './check-context.ts';
import { checkRuleForms } from './rule-forms.ts';
import { checkSignIn } from './sign-in.ts';
import { checkChanges, checkStream } from './sources.ts';
import { checkInclude } from './check-includes.ts';
import { checkTemplate } from './templates.ts';

/** Everything that a shape cannot say of a resource. Files, API and portal go through this list. */
const CHECKS: readonly Check[] = [
  checkExpressions,
  checkEveryEvent,
  checkInclude,
  checkTemplate,
  checkAccounts,
  checkStream,
  checkReferences,
  checkChanges,
  checkRuleForms,
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

type Names = CheckedAgainst['names'];

/**
 * All mistakes and warnings of these resources. `names` says which names are wanted, where that is more than the resources:
 * of a file that cannot be read only the name is known.
 */
export const checkResources = (resources: readonly WantedResource[], context: CheckContext, names?: Names): Findings =>
  runToCompletion(checkResourcesCoroutine(resources, context, names));

/** Does the work of `checkResources`, and yields after each resource. */
export function* checkResourcesCoroutine(
  resources: readonly WantedResource[],
  context: CheckContext,
  names: Names = (kind, workspace) =>
    resources.flatMap(({ ref }) => (ref.kind === kind && ref.workspace === workspace ? [ref.name] : [])),
): Coroutine<Findings> {
  const faults: Fault[] = [];
  const warnings: Warning[] = [];
  const around = surroundingsOf(resources, context, names, (ref) => reportOn(ref, faults, warnings));
  for (const resource of resources) {
    const report = reportOn(resource.ref, faults, warnings);
    for (const check of CHECKS) check(resource, around, report);
    yield;
  }
  checkIdentities(resources, faults);
  return { faults: eachOnce(faults), warnings: eachOnce(warnings) };
}

function surroundingsOf(
  resources: readonly WantedResource[],
  context: CheckContext,
  names: Names,
  report: CheckedAgainst['reportOn'],
): CheckedAgainst {
  const wanted = new Map(resources.toReversed().map((item) => [resourceKey(item.ref), item.body]));
  const wantedBody = <Kind extends ResourceKind>(kind: Kind, workspace: string, name: string) =>
    wanted.get(resourceKey({ kind, workspace, name })) as ResourceBodies[Kind] | undefined;
  const bodyOf = <Kind extends ResourceKind>(kind: Kind, workspace: string, name: string) =>
    wantedBody(kind, workspace, name) ?? findResource(context.current, kind, workspace, name)?.body;
  const wantedNames = oncePerKey((key: string) => {
    const [kind = '', workspace = ''] = key.split(':');
    return names(kind as ResourceKind, workspace);
  });
  return {
    ...context,
    names: (kind, workspace) => wantedNames(`${kind}:${workspace}`),
    account: (workspace, name) => bodyOf('account', workspace, name),
    template: (workspace, name) => {
      const own = wantedBody('template', workspace, name);
      // A template that the change names but that cannot be read counts as missing. Its published version must not be
      // used.
      if (own || wantedNames(`template:${workspace}`).includes(name)) return own;
      return findResource(context.current, 'template', workspace, name)?.body;
    },
    includes: oncePerKey((workspace: string) => includesIn(resources, workspace, context.current)),
    reportOn: report,
    integration: (workspace, name) => bodyOf('integration', workspace, name),
    stream: (workspace, name) => bodyOf('stream', workspace, name),
    workspace: (workspace) => bodyOf('workspace', workspace, ''),
  };
}

/** Remembers what `make` returns for each key. */
function oncePerKey<Value extends object>(make: (key: string) => Value): (key: string) => Value {
  const made = new Map<string, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** Returns the layouts and partials of a workspace after the change. */
export function includesIn(
  resources: readonly WantedResource[],
  workspace: string,
  current: Configuration,
): TemplateIncludes {
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

/** Reports a mistake once, even if several templates include it. */
export function eachOnce<Item extends Warning>(found: readonly Item[]): readonly Item[] {
  const told = new Set<string>();
  return found.filter(({ ref, path, spot, message }) => {
    const key = JSON.stringify([resourceKey(ref), path, spot, message]);
    return !told.has(key) && told.add(key);
  });
}
