import {
  faultIn,
  readResourceBodiesCoroutine,
  resourceFault,
  resourceWarning,
  type GivenResource,
  type PlannedChange,
  type ResourceFault,
  type ResourceWarning,
  type WantedResource,
  type WrittenKind,
} from '@carillon/configuration';
import type { PlanBody } from '@carillon/contracts';
import {
  listResources,
  resourceKey,
  type Configuration,
  type NotificationBody,
  type ResourceChange,
  type ResourceRef,
} from '@carillon/domain/configuration';
import type { CodedFault } from '@carillon/kernel';
import { runYielding } from '@carillon/stages';
import { planWanted } from '../planning.ts';
import type { PlanningPorts } from '../ports.ts';
import { hiddenSecretWarnings } from '../secret-places.ts';

export type ResourcesRequest = {
  /** Bodies from the client. Each replaces or creates a whole resource. */
  readonly put: readonly GivenResource[];
  readonly remove: readonly ResourceRef<WrittenKind>[];
};

export type ResourcesPlan = {
  /** What it was compared with. */
  readonly current: Configuration;
  readonly faults: readonly ResourceFault[];
  readonly warnings: readonly ResourceWarning[];
  /** The given resources, without those whose form is wrong. */
  readonly wanted: readonly WantedResource[];
  /** The planned changes, including templates that are compiled again. */
  readonly changes: readonly PlannedChange[];
  /** The same for people. */
  readonly shown: PlanBody['changes'];
  /** The changes of the record to publish; empty where nothing changes or something is wrong. */
  readonly record: readonly ResourceChange[];
};

/**
 * Plans changes of some resources with the same rules as a folder; unnamed resources stay. Reports all mistakes by
 * their path in each body. Reads the newest configuration first and changes nothing.
 */
export async function planResources(request: ResourcesRequest, ports: PlanningPorts): Promise<ResourcesPlan> {
  return planResourcesOver(await ports.configuration.refresh(), request, ports);
}

/** Plans the changes over a configuration that was already read. */
export const planResourcesOver = async (
  current: Configuration,
  request: ResourcesRequest,
  ports: PlanningPorts,
): Promise<ResourcesPlan> => withHiddenSecrets(await planBodiesOver(current, request, ports), ports);

/** Adds a warning for each secret that the workspace of its resource may not read. */
export async function withHiddenSecrets<Plan extends Pick<ResourcesPlan, 'wanted' | 'warnings'>>(
  plan: Plan,
  { secrets }: Pick<PlanningPorts, 'secrets'>,
): Promise<Plan> {
  const hidden = await hiddenSecretWarnings(plan.wanted, secrets);
  return { ...plan, warnings: [...plan.warnings, ...hidden.map(resourceWarning)] };
}

/** Plans as `planResourcesOver` does, without warnings about secrets: the result depends on its arguments alone. */
export async function planBodiesOver(
  current: Configuration,
  { put, remove }: ResourcesRequest,
  ports: PlanningPorts,
): Promise<ResourcesPlan> {
  const context = { language: ports.expressions, templates: ports.templates, current };
  const reading = await runYielding(readResourceBodiesCoroutine(put, context), ports.slice);
  const { warnings } = reading;
  const faults = [...reading.faults, ...faultsOfRemovals(current, put, remove), ...takenIds(current, put, remove)];
  const wanted = reading.resources;
  if (faults.length > 0) return { current, faults, warnings, wanted, changes: [], shown: [], record: [] };
  const options = { prune: false, remove: new Set(remove.map(resourceKey)) };
  const planned = await planWanted(reading.resources, current, options, ports);
  return {
    current,
    faults: planned.faults.map(resourceFault),
    wanted,
    warnings: [...warnings, ...planned.warnings.map(resourceWarning)],
    changes: planned.changes.filter(({ action }) => action !== 'missing' && action !== 'unchanged'),
    shown: planned.shown.filter(({ action }) => action !== 'missing'),
    record: planned.record,
  };
}

const wholeFault = (ref: ResourceRef, coded: CodedFault): ResourceFault => resourceFault(faultIn(ref, [], coded));

/** Maximum names of obstacles in an error. */
const MAX_NAMED = 5;

function faultsOfRemovals(
  current: Configuration,
  put: readonly GivenResource[],
  remove: readonly ResourceRef<WrittenKind>[],
): readonly ResourceFault[] {
  const going = new Set(remove.map(resourceKey));
  const wanted = put.map(({ ref }) => ref);
  const faults = remove.flatMap((ref): ResourceFault[] => {
    if (ref.kind === 'deployment') return [wholeFault(ref, { code: 'deployment_required', facts: {} })];
    if (ref.kind !== 'workspace') return [];
    const all = new Map([...current.resources.values(), ...put].map((one) => [resourceKey(one.ref), one.ref]));
    const there = [...all.values()].filter(
      (other) => other.workspace === ref.workspace && other.kind !== 'workspace' && !going.has(resourceKey(other)),
    );
    if (there.length === 0) return [];
    const named = there.slice(0, MAX_NAMED).map(({ kind, name }) => `${kind} ${name}`);
    const more = there.length > MAX_NAMED ? ` and ${there.length - MAX_NAMED} more` : '';
    return [wholeFault(ref, { code: 'workspace_not_empty', facts: { contents: `${named.join(', ')}${more}` } })];
  });
  const both = wanted.filter((ref) => going.has(resourceKey(ref)));
  return [...faults, ...both.map((ref) => wholeFault(ref, { code: 'put_and_removed', facts: {} }))];
}

/**
 * Returns ids that belong to another notification which stays. A folder renames a notification that way. Here the other
 * notification must be removed by name in the same request, because its removal may not be intended.
 */
function takenIds(
  current: Configuration,
  put: readonly GivenResource[],
  remove: readonly ResourceRef[],
): readonly ResourceFault[] {
  const going = new Set(remove.map(resourceKey));
  const wanted = new Set(put.map(({ ref }) => resourceKey(ref)));
  return put.flatMap(({ ref, body }) => {
    if (ref.kind !== 'notification') return [];
    const id = typeof body === 'object' && body !== null ? (body as Partial<NotificationBody>).id : undefined;
    const holder = listResources(current, 'notification', ref.workspace).find(
      (other) => id !== undefined && other.body.id === id && other.ref.name !== ref.name,
    );
    if (!holder || going.has(resourceKey(holder.ref)) || wanted.has(resourceKey(holder.ref))) return [];
    const coded = { code: 'identity_taken', facts: { what: 'id', holder: holder.ref.name } } as const;
    return [resourceFault(faultIn(ref, ['id'], coded))];
  });
}
