import { workspacesOf } from '@carillon/domain/configuration';
import { readMemory } from '@carillon/domain/rules';
import type { Duration } from '@carillon/kernel';
import type { Clock, RuleState, RuleStateStore } from '@carillon/ports';
import type { Progress } from '@carillon/runtime';
import type { FollowedConfiguration } from '@carillon/stages';

export type FormerStatesPorts = {
  readonly ruleStates: Pick<RuleStateStore, 'list' | 'remove'>;
  readonly configuration: Pick<FollowedConfiguration, 'current' | 'history'>;
  readonly clock: Clock;
  /** The partitions that this process holds. */
  readonly progress: Pick<Progress, 'caughtUp'>;
};

export const FORMER_STATES_INTERVAL: Duration = 10_000;
/** The markers of a removal are in every partition by then, so a partition that is read to its end evaluates nothing by the old rules. */
const SETTLED_AFTER: Duration = 60_000;
const PAGE_SIZE = 500;

/**
 * Returns a round that removes the states of workspaces that no longer exist. All states are read once after the newest removal of a
 * workspace, and once after a start if there was a removal before.
 */
export function createFormerStateRemover(ports: FormerStatesPorts): () => Promise<void> {
  const { ruleStates, configuration, clock, progress } = ports;
  /** Number of the newest workspace removal whose states are removed, by partition. */
  const cleared = new Map<number, number>();
  const removals = createNewestRemoval(configuration);
  return async () => {
    const removal = removals();
    if (removal === null || removal.at + SETTLED_AFTER > clock.now()) return;
    const held = progress.caughtUp().map(({ partition }) => partition);
    const partitions = new Set(held.filter((partition) => (cleared.get(partition) ?? -1) < removal.number));
    if (partitions.size === 0) return;
    for (let after: string | undefined = ''; after !== undefined;) {
      const page: readonly RuleState[] = await ruleStates.list(PAGE_SIZE, after);
      // Read after the page, because a workspace may be made again meanwhile, and then its states are new.
      const workspaces = workspacesOf(configuration.current());
      const isFormer = ({ partition, data }: RuleState): boolean =>
        partitions.has(partition) &&
        // A forgotten entity has no content.
        data !== '' &&
        !workspaces.has(readMemory(data, 0).entity.workspace);
      await ruleStates.remove(page.filter(isFormer));
      after = page.at(-1)?.id;
    }
    for (const partition of partitions) cleared.set(partition, removal.number);
  };
}

type Removal = { readonly number: number; readonly at: number };

/** Returns a function for the newest publication that changed a workspace which does not exist now. Null: there is none. */
function createNewestRemoval({ current, history }: FormerStatesPorts['configuration']): () => Removal | null {
  let known: { readonly number: number; readonly removal: Removal | null } = { number: -1, removal: null };
  return () => {
    const configuration = current();
    if (configuration.number === known.number) return known.removal;
    const workspaces = workspacesOf(configuration);
    const newest = history
      .publications()
      .findLast(({ refs }) => refs.some(({ workspace }) => !workspaces.has(workspace)));
    const removal = newest ? { number: newest.number, at: Date.parse(newest.at) } : null;
    known = { number: configuration.number, removal };
    return removal;
  };
}
