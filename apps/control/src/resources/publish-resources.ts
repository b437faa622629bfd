import { resourceFiles, type ResourceFault, type ResourceWarning, type WantedResource } from '@carillon/configuration';
import type { ResourceFaultBody, ResourcePlanBody } from '@carillon/contracts';
import { resourceKey, type ChangeOrigin, type Configuration, type ResourceRef } from '@carillon/domain/configuration';
import { CarillonError, isCarillonError } from '@carillon/kernel';
import { repeatMarkers } from '@carillon/stages';
import { demandPeopleForEnvironments } from '../access/environment-changes.ts';
import type { Principal } from '../access/principal.ts';
import type { PlanningPorts, PublishingPorts } from '../ports.ts';
import { publishChanges } from './publish-changes.ts';
import { planResourcesOver, type ResourcesPlan, type ResourcesRequest } from './plan-resources.ts';
import { demandPrecondition, lostRace, type Precondition } from './preconditions.ts';

export type WritingPorts = PlanningPorts & PublishingPorts;

export const faultBody = ({ ref, ...fault }: ResourceFault): ResourceFaultBody => ({ ...ref, ...fault });
export const warningBody = ({ ref, ...warning }: ResourceWarning): ResourceFaultBody => ({
  ...ref,
  ...warning,
  expected: '',
});

/** Resources as files, each with its path in the folder. */
export const filesOfAll = (resources: readonly WantedResource[]): ResourcePlanBody['files'] =>
  resources.flatMap((one) => [...resourceFiles(one)].map(([path, text]) => ({ path, text })));

/** Returns a plan as the API shows it. */
export const showPlan = ({ current, faults, warnings, shown, wanted }: ResourcesPlan): ResourcePlanBody => ({
  number: current.number,
  faults: faults.map(faultBody),
  warnings: warnings.map(warningBody),
  changes: [...shown],
  files: filesOfAll(wanted),
});

/** Mistakes quoted in the detail. All of them are in `faults`. */
const MAX_NAMED = 10;

/** The refusal of a plan with mistakes. */
export function refusedPlan({ faults }: Pick<ResourcesPlan, 'faults'>): CarillonError {
  const words = faults
    .slice(0, MAX_NAMED)
    .map(({ path, message, fix }) => `${path === '' ? '' : `${path}: `}${message}; ${fix}`);
  return new CarillonError('invalid_configuration', words.join('\n'), { faults: faults.map(faultBody) });
}

/** A write of one resource, and the version that it is based on. */
export type ResourceWrite = {
  readonly ref: ResourceRef;
  readonly request: (current: Configuration) => ResourcesRequest;
  readonly precondition: Precondition;
  /** Author of the change. Only few people may change what a test environment is. */
  readonly principal: Principal;
};

/** A write is planned again where something moved that its author has not named, such as a template that is compiled again with it. */
const MAX_ROUNDS = 5;

/**
 * Publishes a change of one resource and resolves when every role uses it. Throws `precondition_failed` if it is not
 * based on the newest version, and `invalid_configuration` with all mistakes. A change without effect only repeats the
 * markers of the newest configuration, which completes the work of a crashed publisher.
 */
export async function publishResource(
  write: ResourceWrite,
  by: ChangeOrigin,
  ports: WritingPorts,
): Promise<{ readonly plan: ResourcesPlan; readonly number: number | null }> {
  const { history } = ports.configuration;
  for (let round = 1; ; round += 1) {
    const current = await ports.configuration.refresh();
    demandPrecondition(write.precondition, write.ref, current.resources.get(resourceKey(write.ref)), history);
    const plan = await planResourcesOver(current, write.request(current), ports);
    if (plan.faults.length > 0) throw refusedPlan(plan);
    demandPeopleForEnvironments(plan.record, current, write.principal);
    if (plan.record.length === 0) {
      if (current.number >= 0) await repeatMarkers(ports.log, current.number);
      return { plan, number: null };
    }
    try {
      return { plan, number: await publishChanges(plan.record, by, ports) };
    } catch (error) {
      if (!isCarillonError(error) || error.code !== 'conflict') throw error;
      const key = resourceKey(write.ref);
      const now = ports.configuration.current().resources.get(key);
      if (now?.number !== current.resources.get(key)?.number) throw lostRace(write.ref, now, history);
      if (round === MAX_ROUNDS) throw error;
    }
  }
}
