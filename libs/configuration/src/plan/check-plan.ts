import {
  type NotificationBody,
  resourceKey,
  type ResourceKind,
  type Security,
  type StreamBody,
} from '@carillon/domain';
import type { FileFault, ValuePath } from '../files/place.ts';
import type { PlannedChange, WantedResource } from './plan.ts';

/** What is wrong only with the whole in view: addresses taken twice, and what still needs a resource that goes. */
export function checkPlan(
  changes: readonly PlannedChange[],
  wanted: ReadonlyMap<string, WantedResource>,
): readonly FileFault[] {
  const staying = changes.filter(({ action }) => action !== 'delete');
  const going = new Set(changes.filter(({ action }) => action === 'delete').map(({ ref }) => resourceKey(ref)));
  const paths = new Map<string, string>();
  return staying
    .filter(({ ref }) => ref.kind === 'notification' || ref.kind === 'stream')
    .flatMap((change) => {
      const item = wanted.get(resourceKey(change.ref));
      const fault = (path: ValuePath, message: string, expected: string, fix: string): FileFault => ({
        file: change.file ?? '',
        path: path.join('.'),
        ...(item?.place?.(path) ?? { line: 1, column: 1 }),
        message,
        expected,
        fix,
      });
      if (change.ref.kind === 'stream') {
        return goneFaults(change, securityNeeds((change.body as StreamBody).security), going, fault);
      }
      const body = change.body as NotificationBody;
      return [...pathFaults(change, body, paths, fault), ...goneFaults(change, needsOf(body), going, fault)];
    });
}

type MakeFault = (path: ValuePath, message: string, expected: string, fix: string) => FileFault;

/** After a rename the old address stays with the renamed rule, so a new rule of the old name needs another. */
function pathFaults(
  { ref }: PlannedChange,
  body: NotificationBody,
  paths: Map<string, string>,
  fault: MakeFault,
): readonly FileFault[] {
  return Object.entries(body.rules).flatMap(([name, { path }]) => {
    if (path === undefined) return [];
    const holder = paths.get(path);
    paths.set(path, `${ref.workspace}/${ref.name}.${name}`);
    if (holder === undefined) return [];
    const fix = `write path: ${ref.workspace}/${ref.name}.<another name> for one of them`;
    return [fault(['rules', name], `the address ${path} belongs to ${holder}`, 'an address of its own', fix)];
  });
}

type Need = readonly [at: ValuePath, kind: ResourceKind, name: string];

const securityNeeds = (security: Security | undefined): readonly Need[] =>
  security?.jwt_provider === undefined ? [] : [[['security', 'jwt_provider'], 'jwt_provider', security.jwt_provider]];

function needsOf(body: NotificationBody): readonly Need[] {
  const needs: Need[] = [...securityNeeds(body.security)];
  if (body.channels.email) {
    needs.push([['channels', 'email', 'template'], 'template', body.channels.email.template]);
    for (const name of body.channels.email.accounts ?? [])
      needs.push([['channels', 'email', 'accounts'], 'account', name]);
  }
  for (const [name, rule] of Object.entries(body.rules)) {
    if (rule.stream !== undefined) needs.push([['rules', name, 'stream'], 'stream', rule.stream]);
    if (rule.recipients.from === 'lookup')
      needs.push([['rules', name, 'recipients', 'integration'], 'integration', rule.recipients.integration]);
    if (rule.cohort) needs.push([['rules', name, 'cohort', 'integration'], 'integration', rule.cohort.integration]);
  }
  return needs;
}

function goneFaults(
  { ref }: PlannedChange,
  needs: readonly Need[],
  going: ReadonlySet<string>,
  fault: MakeFault,
): readonly FileFault[] {
  return needs
    .filter(([, kind, name]) => going.has(resourceKey({ kind, workspace: ref.workspace, name })))
    .map(([path, kind, name]) => {
      const words = kind === 'jwt_provider' ? 'JWT provider' : kind;
      const message = `${words} ${name} is not in the folder and would go`;
      return fault(path, message, `a ${words} that stays`, `put ${name} back, or name another`);
    });
}
