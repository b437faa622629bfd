import { resourceKey, type Configuration, type Draft } from '@carillon/domain/configuration';
import type { DraftStore } from '@carillon/ports';
import type { PlanningPorts } from '../ports.ts';
import { withHiddenSecrets, type ResourcesPlan } from '../resources/plan-resources.ts';
import { draftsOf, planDraftBodies } from './plan-drafts.ts';

/** Workspaces whose plan is kept; the least recently read one is dropped first. */
const MAX_PLANS = 8;

type Findings = Pick<ResourcesPlan, 'faults' | 'warnings'>;
type KeptPlan = Findings & Pick<ResourcesPlan, 'wanted'> & { readonly revisions: ReadonlySet<string> };
type Entry = { key: string; readonly plan: Promise<KeptPlan> };
type DraftPlanPorts = PlanningPorts & { readonly drafts: Pick<DraftStore, 'list' | 'revisions'> };

export type DraftPlans = {
  /** Resolves to the faults and warnings of a draft, planned together with all other drafts of its workspace. */
  findingsOf(draft: Draft, current: Configuration, ports: DraftPlanPorts): Promise<Findings>;
};

/**
 * Keeps the newest plan of a workspace's drafts by their revisions and the configuration's number, because a portal reads
 * each draft again and every reading needs the plan of all. Requests that come together share one planning. Secrets change
 * without a draft, so warnings about them are made at each reading.
 */
export function createDraftPlans(): DraftPlans {
  const kept = new Map<string, Entry>();

  async function planAll(workspace: string, current: Configuration, ports: DraftPlanPorts): Promise<KeptPlan> {
    return planOf(current, await draftsOf(workspace, ports), ports);
  }

  function begin(workspace: string, key: string, current: Configuration, ports: DraftPlanPorts): Entry {
    const entry: Entry = { key, plan: planAll(workspace, current, ports) };
    entry.plan.then(
      // A draft that was saved between the two reads is in the plan, and was not in the key.
      ({ revisions }) => (entry.key = keyOf(current, revisions)),
      () => kept.get(workspace) === entry && kept.delete(workspace),
    );
    return entry;
  }

  return {
    async findingsOf(draft, current, ports) {
      const { workspace } = draft.ref;
      const key = keyOf(current, await ports.drafts.revisions(workspace));
      const before = kept.get(workspace);
      const entry = before?.key === key ? before : begin(workspace, key, current, ports);
      kept.delete(workspace);
      kept.set(workspace, entry);
      const [oldest] = kept.keys();
      if (kept.size > MAX_PLANS && oldest !== undefined) kept.delete(oldest);
      let plan = await entry.plan;
      // Somebody saved the draft again meanwhile: the caller asks about the saving that it holds.
      if (!plan.revisions.has(draft.revision)) plan = await planWith(draft, current, ports);
      const own = <Found extends Findings['warnings'][number]>(all: readonly Found[]): readonly Found[] =>
        all.filter(({ ref }) => resourceKey(ref) === resourceKey(draft.ref));
      const wanted = plan.wanted.filter(({ ref }) => resourceKey(ref) === resourceKey(draft.ref));
      return withHiddenSecrets({ faults: own(plan.faults), warnings: own(plan.warnings), wanted }, ports);
    },
  };
}

async function planWith(draft: Draft, current: Configuration, ports: DraftPlanPorts): Promise<KeptPlan> {
  const all = await draftsOf(draft.ref.workspace, ports);
  const others = all.filter(({ ref }) => resourceKey(ref) !== resourceKey(draft.ref));
  return planOf(current, [draft, ...others], ports);
}

async function planOf(current: Configuration, drafts: readonly Draft[], ports: DraftPlanPorts): Promise<KeptPlan> {
  const { faults, warnings, wanted } = await planDraftBodies(current, drafts, ports);
  return { faults, warnings, wanted, revisions: new Set(drafts.map(({ revision }) => revision)) };
}

const keyOf = ({ number }: Configuration, revisions: Iterable<string>): string =>
  [number, ...[...revisions].toSorted()].join(' ');
