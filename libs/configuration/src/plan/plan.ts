import {
  canonical,
  type Configuration,
  findResource,
  listResources,
  type NotificationBody,
  type Resource,
  type ResourceChange,
  resourceKey,
  type ResourceKind,
  type ResourceRef,
} from '@carillon/domain';
import type { DesiredResource, FileResourceKind } from '../files/desired.ts';
import { type Difference, differencesOf } from './differences.ts';
import { checkPlan } from './check-plan.ts';
import { identified } from './identities.ts';
import { type FileFault, pathText, type Place, type ValuePath } from '../files/place.ts';

/** A resource without a file: what the API changes. */
export type WantedResource = Omit<DesiredResource, 'file' | 'place'> & {
  readonly file?: string;
  place?(path: ValuePath): Place;
};

export type PlannedAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'unchanged'
  /** In the configuration and not in the folder: listed, kept, and taken away only with `prune`. */
  | 'missing';

export type PlannedChange = {
  readonly action: PlannedAction;
  readonly ref: ResourceRef<FileResourceKind>;
  /** Where it is written; null where nothing in the folder speaks of it. */
  readonly file: string | null;
  readonly based_on: number | null;
  /** What it will be, ids and paths filled in; null where it goes or stays as it is without a file. */
  readonly body: ResourceChange['body'];
  readonly differences: readonly Difference[];
  /** What a person should know before saying yes. */
  readonly notes: readonly string[];
};

export type Plan = {
  readonly changes: readonly PlannedChange[];
  readonly faults: readonly FileFault[];
  /** The changes of the record to publish; empty where nothing changes or something is wrong. */
  readonly record: readonly ResourceChange[];
};

export type PlanOptions = {
  /** Takes away what is not in the folder. */
  readonly prune: boolean;
  /** Makes ids for new notifications and rules: chance is an argument. */
  readonly newId: (kind: 'notification' | 'rule') => string;
};

/**
 * Compares what is with what is wanted. Pure but for `newId`. What is missing stays unless `prune`; a notification that
 * comes back under another name with its id is a rename, so its old name goes in the same record.
 */
export function planChanges(current: Configuration, desired: readonly WantedResource[], options: PlanOptions): Plan {
  const faults: FileFault[] = [];
  const wanted = new Map(desired.map((item) => [resourceKey(item.ref), item]));
  const changes = desired.map((item) => planOne(current, item, wanted, options, faults));
  const renamed = renamedAway(current, desired);
  for (const resource of current.resources.values()) {
    const key = resourceKey(resource.ref);
    if (resource.ref.kind === 'api_key' || wanted.has(key)) continue;
    const newName = renamed.get(key);
    const notes = newName === undefined ? [] : [`renamed to ${newName}: who was told stays told`];
    changes.push(leaving(resource, options.prune || newName !== undefined, notes));
  }
  const sorted = changes.toSorted((a, b) => (resourceKey(a.ref) < resourceKey(b.ref) ? -1 : 1));
  faults.push(...checkPlan(sorted, wanted));
  return { changes: sorted, faults, record: faults.length > 0 ? [] : sorted.flatMap(recordChange) };
}

function leaving(resource: Resource, goes: boolean, notes: readonly string[]): PlannedChange {
  return {
    action: goes ? 'delete' : 'missing',
    ref: resource.ref as ResourceRef<FileResourceKind>,
    file: null,
    based_on: resource.number,
    body: goes ? null : resource.body,
    differences: [],
    notes,
  };
}

function planOne(
  current: Configuration,
  item: WantedResource,
  wanted: ReadonlyMap<string, WantedResource>,
  options: PlanOptions,
  faults: FileFault[],
): PlannedChange {
  const { ref } = item;
  const before = findResource<ResourceKind>(current, ref.kind, ref.workspace, ref.name);
  const { body, notes } =
    ref.kind === 'notification'
      ? identified(current, item, wanted, options)
      : { body: item.body, notes: [] as readonly string[] };
  if (ref.kind === 'stream' && before) faults.push(...fixedAtCreation(before, item));
  if (ref.kind === 'notification') faults.push(...movedPaths(current, item, body as NotificationBody));
  const base = { ref, file: item.file ?? null, based_on: before?.number ?? null, body, notes };
  if (!before) return { ...base, action: 'create', differences: [] };
  if (canonical(before.body) === canonical(body)) return { ...base, action: 'unchanged', differences: [] };
  return { ...base, action: 'update', differences: differencesOf(before.body, body) };
}

/** A stream's key decides where its events stand in the log, its time what they mean: both are for ever. */
function fixedAtCreation(before: Resource, item: WantedResource): readonly FileFault[] {
  const old = before.body as { readonly key?: string; readonly time?: string };
  const now = item.body as typeof old;
  return (['key', 'time'] as const)
    .filter((name) => old[name] !== now[name])
    .map((name) => ({
      file: item.file ?? '',
      path: name,
      ...(item.place?.([name]) ?? { line: 1, column: 1 }),
      message: `the ${name} of a stream cannot change after its creation`,
      expected: old[name] ?? `no ${name}`,
      fix: `write it as it was, or make another stream`,
    }));
}

/** Senders know the address of a rule, so it stays as long as the rule's id does. */
function movedPaths(current: Configuration, item: WantedResource, body: NotificationBody): readonly FileFault[] {
  const before = new Map(
    listResources(current, 'notification', item.ref.workspace).flatMap((resource) =>
      Object.values(resource.body.rules).map((rule) => [rule.id, rule.path] as const),
    ),
  );
  return Object.entries(body.rules).flatMap(([name, { id, path }]) => {
    const old = id === undefined ? undefined : before.get(id);
    if (old === undefined || path === undefined || old === path) return [];
    const at = ['rules', name, 'path'];
    return [
      {
        file: item.file ?? '',
        path: pathText(at),
        ...(item.place?.(at) ?? { line: 1, column: 1 }),
        message: 'the address of a rule cannot change after its creation',
        expected: old,
        fix: 'write it as it was, or make another rule',
      },
    ];
  });
}

/** Old names of notifications whose id is wanted under a new name. */
function renamedAway(current: Configuration, desired: readonly WantedResource[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { ref, body } of desired) {
    if (ref.kind !== 'notification') continue;
    const { id } = body as NotificationBody;
    if (id !== undefined) names.set(`${ref.workspace} ${id}`, ref.name);
  }
  const renamed = new Map<string, string>();
  for (const { ref, body } of current.resources.values()) {
    if (ref.kind !== 'notification') continue;
    const newName = names.get(`${ref.workspace} ${(body as NotificationBody).id ?? ''}`);
    if (newName !== undefined && newName !== ref.name) renamed.set(resourceKey(ref), newName);
  }
  return renamed;
}

function recordChange({ action, ref, based_on, body }: PlannedChange): readonly ResourceChange[] {
  if (action === 'unchanged' || action === 'missing') return [];
  return [{ ref, based_on, body } as ResourceChange];
}
