import {
  canonical,
  type Configuration,
  differencesOf,
  findResource,
  listResources,
  type NotificationBody,
  type Resource,
  type ResourceChange,
  resourceKey,
  type ResourceRef,
  type ResourceKind,
  type StreamBody,
} from '@carillon/domain/configuration';
import { runToCompletion, type Coroutine } from '@carillon/kernel';
import { DEFAULTS } from '@carillon/shapes/values';
import { type Fault, faultIn } from '../checks/finding.ts';
import { isKind, isWritten, type WantedResource, type WrittenKind } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import { keptCategories } from '../checks/categories.ts';
import { checkPlanCoroutine } from './check-plan.ts';
import { withUsers } from './includes.ts';
import { withoutCompiled } from './compiled.ts';
import { identified } from './identities.ts';
import type { Plan, PlannedChange, PlanOptions, Wanted } from './planned.ts';

/**
 * Compares what is with what is wanted. Pure but for `newId`. What is missing stays unless `prune` or `remove`; a notification that
 * comes back under another name with its id is a rename, so its old name goes in the same record.
 */
export const planChanges = (current: Configuration, all: readonly WantedResource[], options: PlanOptions): Plan =>
  runToCompletion(planChangesCoroutine(current, all, options));

/** Does the work of `planChanges`, and yields after each resource. */
export function* planChangesCoroutine(
  current: Configuration,
  all: readonly WantedResource[],
  options: PlanOptions,
): Coroutine<Plan> {
  const isMeant = ({ workspace }: ResourceRef): boolean =>
    options.workspace === undefined || workspace === options.workspace;
  const desired = all.filter(({ ref }) => isMeant(ref));
  const faults: Fault[] = [];
  const wanted = new Map(desired.map((item) => [resourceKey(item.ref), item]));
  const changes: PlannedChange[] = [];
  for (const item of desired) {
    changes.push(planOne(current, item, wanted, options, faults));
    yield;
  }
  const renamed = renamedAway(current, desired);
  for (const resource of [...current.resources.values()].filter(isWritten)) {
    const key = resourceKey(resource.ref);
    if (wanted.has(key) || !isMeant(resource.ref)) continue;
    const newName = renamed.get(key);
    const notes =
      newName === undefined ? [] : [`renamed to ${newName}: its history stays, so nobody is notified twice`];
    changes.push(leaving(resource, options.prune || newName !== undefined || options.remove?.has(key) === true, notes));
  }
  const sorted = changes.toSorted((a, b) => (resourceKey(a.ref) < resourceKey(b.ref) ? -1 : 1));
  const staying = sorted.flatMap(({ ref, body }) => (body === null ? [] : [{ ref, body }]));
  const unnamed = staying.filter(({ ref }) => !wanted.has(resourceKey(ref)));
  const going = sorted.filter(({ action }) => action === 'delete').map(({ ref }) => resourceKey(ref));
  const deployment =
    staying.find((item) => isKind(item, 'deployment'))?.body ?? findResource(current, 'deployment', '', '')?.body;
  const whole = yield* checkPlanCoroutine({ staying, unnamed, deployment, going: new Set(going) }, options);
  faults.push(...whole.faults);
  const record = faults.length > 0 ? [] : sorted.flatMap(recordChange);
  return { changes: withUsers(sorted, staying), faults, warnings: whole.warnings, record };
}

function leaving({ ref, number, body }: Resource<WrittenKind>, goes: boolean, notes: readonly string[]): PlannedChange {
  return {
    action: goes ? 'delete' : 'missing',
    ref,
    based_on: number,
    body: goes ? null : body,
    differences: [],
    notes,
    formers: [],
  };
}

function planOne(
  current: Configuration,
  item: WantedResource,
  wanted: Wanted,
  options: PlanOptions,
  faults: Fault[],
): PlannedChange {
  const { ref } = item;
  const before = findResource<ResourceKind>(current, ref.kind, ref.workspace, ref.name);
  let body: PlannedChange['body'] = item.body;
  let notes: readonly string[] = [];
  let formers: PlannedChange['formers'] = [];
  if (isKind(item, 'stream')) fixedAtCreation(current, item, faults);
  if (isKind(item, 'workspace')) keptCategories(current, item, faults);
  if (isKind(item, 'notification')) {
    const notification = identified(current, item, wanted, options);
    movedPaths(current, item, notification.body, faults);
    ({ body, notes, formers } = notification);
  }
  const base = { ref, based_on: before?.number ?? null, body, notes, formers };
  if (!before) return { ...base, action: 'create', differences: [] };
  if (canonical(before.body) === canonical(body)) return { ...base, action: 'unchanged', differences: [] };
  const differences = differencesOf(before.body, body);
  if (!isKind(item, 'template')) return { ...base, action: 'update', differences };
  return { ...base, action: 'update', ...withoutCompiled(item.body, differences) };
}

/**
 * Refuses changes of a stream's key, time, origin and format. The key decides the position of events in the log, and
 * the others their meaning. Tables and topics may be added and removed, but each keeps its key's path.
 */
function fixedAtCreation(current: Configuration, { ref, body }: WantedResource<'stream'>, faults: Fault[]): void {
  const before = findResource(current, 'stream', ref.workspace, ref.name)?.body;
  if (!before) return;
  const refuse = (path: ValuePath, what: string, of: string, was: string): void =>
    void faults.push(faultIn(ref, path, { code: 'fixed_at_creation', facts: { what, of, was } }));
  const origin = originOf(before);
  const isMoved = origin !== originOf(body);
  if (isMoved) refuse(['from'], 'origin', '', ORIGINS[origin]);
  for (const name of isMoved ? (['time'] as const) : (['key', 'time'] as const)) {
    const old = before[name];
    if (old !== body[name]) refuse([name], name, '', old ?? `no ${name}`);
  }
  const format = before.format ?? DEFAULTS.stream.format;
  if (!isMoved && format !== (body.format ?? DEFAULTS.stream.format)) {
    refuse(['format'], 'format', '', `format: ${format}`);
  }
  const integration = before.from?.integration;
  if (!isMoved && integration !== undefined && integration !== body.from?.integration) {
    refuse(['from', 'integration'], 'integration', '', integration);
  }
  for (const kind of ['tables', 'topics'] as const) {
    for (const [name, old] of Object.entries(before.from?.[kind] ?? {})) {
      const key = body.from?.[kind]?.[name];
      if (key !== undefined && key !== old)
        refuse(['from', kind, name], 'key', `the ${kind.slice(0, -1)} ${name}`, old);
    }
  }
}

const ORIGINS = {
  tables: 'a stream that reads a database',
  topics: 'a stream that reads topics',
  senders: 'no from',
} as const;

function originOf({ from }: StreamBody): keyof typeof ORIGINS {
  if (!from) return 'senders';
  return from.topics === undefined ? 'tables' : 'topics';
}

/** Senders know the address of a rule, so it stays as long as the rule's id does. */
function movedPaths(
  current: Configuration,
  { ref }: WantedResource<'notification'>,
  body: NotificationBody,
  faults: Fault[],
): void {
  const before = new Map(
    listResources(current, 'notification', ref.workspace).flatMap((resource) =>
      Object.values(resource.body.rules).map((rule) => [rule.id, rule.path] as const),
    ),
  );
  for (const [name, { id, path }] of Object.entries(body.rules)) {
    const old = id === undefined ? undefined : before.get(id);
    if (old === undefined || path === undefined || old === path) continue;
    faults.push(faultIn(ref, ['rules', name, 'path'], { code: 'path_changed', facts: { path: old } }));
  }
}

/** Old names of notifications whose id is wanted under a new name. */
function renamedAway(current: Configuration, desired: readonly WantedResource[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const item of desired) {
    if (!isKind(item, 'notification') || item.body.id === undefined) continue;
    names.set(`${item.ref.workspace} ${item.body.id}`, item.ref.name);
  }
  const renamed = new Map<string, string>();
  for (const { ref, body } of listResources(current, 'notification')) {
    const newName = names.get(`${ref.workspace} ${body.id ?? ''}`);
    if (newName !== undefined && newName !== ref.name) renamed.set(resourceKey(ref), newName);
  }
  return renamed;
}

function recordChange({ action, ref, based_on, body }: PlannedChange): readonly ResourceChange[] {
  return action === 'unchanged' || action === 'missing' ? [] : [{ ref, based_on, body }];
}
