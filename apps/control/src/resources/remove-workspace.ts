import { resourceFault } from '@carillon/configuration';
import type { WorkspaceRemovalBody } from '@carillon/contracts';
import {
  listResources,
  resourceKey,
  type ChangeOrigin,
  type Configuration,
  type ResourceChange,
} from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import { createDirectory } from '../access/people/directory.ts';
import { planWanted, type PlannedResources } from '../planning.ts';
import type { ControlPorts } from '../ports.ts';
import { publishChanges } from './publish-changes.ts';
import { faultBody, refusedPlan, type WritingPorts } from './publish-resources.ts';

type Ports = WritingPorts & Pick<ControlPorts, 'vault' | 'people' | 'drafts'>;

/** All that a workspace holds in the configuration, its settings among it. */
const heldBy = (workspace: string, current: Configuration) =>
  [...current.resources.values()].filter(({ ref }) => ref.workspace === workspace);

/** Plans the removal of a workspace. The plan has mistakes for all references from elsewhere. */
async function planRemoval(workspace: string, current: Configuration, ports: Ports): Promise<PlannedResources> {
  const remove = new Set(heldBy(workspace, current).map(({ ref }) => resourceKey(ref)));
  const plan = await planWanted([], current, { prune: false, remove }, ports);
  // No file writes a key, so that no plan takes one away.
  const keys = listResources(current, 'api_key', workspace).map(({ ref, number }): ResourceChange => ({
    ref,
    based_on: number,
    body: null,
  }));
  return { ...plan, record: plan.faults.length > 0 ? [] : [...plan.record, ...keys] };
}

/**
 * Counts what the removal of a workspace would delete: resources by kind, people, access and waiting messages. Changes
 * nothing.
 */
export async function countRemoval(workspace: string, ports: Ports): Promise<WorkspaceRemovalBody> {
  const current = await ports.configuration.refresh();
  const plan = await planRemoval(workspace, current, ports);
  return { ...(await shown(workspace, current, plan, ports)), removed: false, new_number: null };
}

/**
 * Removes a workspace with its contents immediately. `counted` is the configuration number the caller saw: throws
 * `conflict` without any change if the workspace changed since, and `invalid_request` for a future number.
 */
export async function removeWorkspace(
  workspace: string,
  counted: number,
  by: ChangeOrigin,
  ports: Ports,
): Promise<WorkspaceRemovalBody> {
  const current = await ports.configuration.refresh();
  if (counted > current.number) {
    const words = `number: there is no configuration ${counted} yet; the newest is ${current.number}`;
    throw new CarillonError('invalid_request', words, { pointer: '/number' });
  }
  const newest = Math.max(...heldBy(workspace, current).map(({ number }) => number));
  if (newest > counted) {
    throw new CarillonError('conflict', `${workspace} has changed since you reviewed it: review it and confirm again`);
  }
  const plan = await planRemoval(workspace, current, ports);
  if (plan.faults.length > 0) throw refusedPlan({ faults: plan.faults.map(resourceFault) });
  const told = await shown(workspace, current, plan, ports);
  return { ...told, removed: true, new_number: await publishChanges(plan.record, by, ports) };
}

async function shown(
  workspace: string,
  current: Configuration,
  { faults, shown: changes }: PlannedResources,
  ports: Ports,
): Promise<Omit<WorkspaceRemovalBody, 'removed' | 'new_number'>> {
  const resources: Record<string, number> = {};
  for (const { ref } of heldBy(workspace, current)) {
    if (ref.kind !== 'workspace') resources[ref.kind] = (resources[ref.kind] ?? 0) + 1;
  }
  const people = await createDirectory(ports).all('person');
  const secrets = await ports.vault.list(workspace);
  const { drafts } = await ports.drafts.held(workspace);
  const whole = changes.find(({ resource }) => resource === `workspace ${workspace}`);
  return {
    workspace,
    number: current.number,
    resources,
    members: people.filter(({ body }) => body.memberships.some((one) => one.workspace === workspace)).length,
    secrets: secrets.length,
    drafts,
    told: whole?.told ?? 0,
    waiting: whole?.waiting ?? 0,
    waits: changes.flatMap(({ resource, note }) => (note === null ? [] : [`${resource}: ${note}`])),
    faults: faults.map((fault) => faultBody(resourceFault(fault))),
  };
}
