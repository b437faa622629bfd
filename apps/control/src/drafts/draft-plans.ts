import { resourceKey, type Configuration, type Draft } from '@carillon/domain';
import type { PlanningPorts } from '../ports.ts';
import { withHiddenSecrets, type ResourcesPlan } from '../resources/plan-resources.ts';
import { planDraftBodies } from './plan-drafts.ts';

/** Workspaces whose plan is kept; the least recently read one is dropped first. */
const MAX_PLANS = 8;

type KeptPlan = Pick<ResourcesPlan, 'faults' | 'warnings' | 'wanted'>;

export type DraftPlans = {
  /** Resolves to the faults and warnings of all drafts of a workspace, planned together. */
  of(workspace: string, current: Configuration, drafts: readonly Draft[], ports: PlanningPorts): Promise<KeptPlan>;
};

/**
 * Keeps the newest plan of a workspace's drafts by their revisions and the configuration's number, because a portal reads
 * each draft again and every reading needs the plan of all. Requests that come together share one planning. Where secrets
 * can be read from may change without either, so their warnings are made at each reading.
 */
export function createDraftPlans(): DraftPlans {
  const kept = new Map<string, { readonly key: string; readonly plan: Promise<KeptPlan> }>();

  const planAgain = (current: Configuration, drafts: readonly Draft[], ports: PlanningPorts): Promise<KeptPlan> =>
    planDraftBodies(current, drafts, ports).then(({ faults, warnings, wanted }) => ({ faults, warnings, wanted }));

  return {
    async of(workspace, current, drafts, ports) {
      const key = keyOf(current, drafts);
      const before = kept.get(workspace);
      const entry = before?.key === key ? before : { key, plan: planAgain(current, drafts, ports) };
      kept.delete(workspace);
      kept.set(workspace, entry);
      const [oldest] = kept.keys();
      if (kept.size > MAX_PLANS && oldest !== undefined) kept.delete(oldest);
      try {
        return await withHiddenSecrets(await entry.plan, ports);
      } catch (error) {
        if (kept.get(workspace) === entry) kept.delete(workspace);
        throw error;
      }
    },
  };
}

const keyOf = ({ number }: Configuration, drafts: readonly Draft[]): string =>
  [number, ...drafts.map(({ ref, revision }) => `${resourceKey(ref)} ${revision}`).toSorted()].join('\n');
