import { resourceKey, type ChangeOrigin, type Draft, type ResourceRef } from '@carillon/domain/configuration';
import { CarillonError, isCarillonError } from '@carillon/kernel';
import { repeatMarkers, type ConfigurationHistory } from '@carillon/stages';
import type { Principal } from '../access/principal.ts';
import { publishChanges } from '../resources/publish-changes.ts';
import type { ControlPorts } from '../ports.ts';
import type { ResourcesPlan } from '../resources/plan-resources.ts';
import { refusedPlan, type WritingPorts } from '../resources/publish-resources.ts';
import { demandPeopleForEnvironments } from '../access/environment-changes.ts';
import { planDraftsOver } from './plan-drafts.ts';
import { draftMoved, isSaving, rebasedRevision } from './save-draft.ts';
import { conflictOf, stateOf } from './states.ts';

export type PublishDraftPorts = WritingPorts & Pick<ControlPorts, 'drafts'>;

/** Names a draft by its resource, and optionally the revision that the caller has seen. */
export type NamedDraft = { readonly ref: ResourceRef; readonly revision?: string | undefined };

/** The drafts of these names. Throws `not_found`, and `precondition_failed` where one is another saving than the named one. */
export async function namedDrafts(
  named: readonly NamedDraft[],
  { drafts }: Pick<ControlPorts, 'drafts'>,
): Promise<readonly Draft[]> {
  const unique = [...new Map(named.map((one) => [resourceKey(one.ref), one])).values()];
  return Promise.all(
    unique.map(async ({ ref, revision }) => {
      const draft = await drafts.find(ref);
      if (revision !== undefined && !isSaving(draft, revision)) throw draftMoved(ref, draft);
      if (draft) return draft;
      throw new CarillonError('not_found', `there is no draft of ${ref.kind.replace('_', ' ')} ${ref.name}`);
    }),
  );
}

/** A draft is planned again where something moved that it does not name, such as a template that is compiled again with it. */
const MAX_ROUNDS = 5;

export type Published = { readonly plan: ResourcesPlan; readonly number: number | null };

/**
 * Publishes drafts as one configuration record. Resolves when every role uses the new configuration and the drafts are
 * deleted. Throws `draft_conflict` with three versions (base, theirs, mine) of each resource that changed meanwhile, or
 * `invalid_configuration` with all mistakes; nothing is published then. After a crash the record is published whole or
 * not at all. Drafts left by a crash after publishing have the published content.
 */
export async function publishDrafts(
  drafts: readonly Draft[],
  by: ChangeOrigin,
  principal: Principal,
  ports: PublishDraftPorts,
): Promise<Published> {
  const { history } = ports.configuration;
  for (let round = 1; ; round += 1) {
    const current = await ports.configuration.refresh();
    const lost = drafts.filter((draft) => stateOf(draft, current) === 'conflict');
    if (lost.length > 0) {
      const names = lost.map(({ ref }) => `${ref.kind.replace('_', ' ')} ${ref.name}`.trim()).join(', ');
      throw new CarillonError(
        'draft_conflict',
        `${names} changed since the draft was started: choose a version, then publish again`,
        {
          conflicts: lost.map((draft) => conflictOf(draft, current, history)),
        },
      );
    }
    const open = drafts.filter((draft) => stateOf(draft, current) === 'open');
    const plan = await planDraftsOver(current, open, ports);
    if (plan.faults.length > 0) throw refusedPlan(plan);
    demandPeopleForEnvironments(plan.record, current, principal);
    if (plan.record.length === 0) {
      if (current.number >= 0) await repeatMarkers(ports.log, current.number);
      await removePublished(drafts, null, ports);
      return { plan, number: null };
    }
    try {
      const number = await publishChanges(plan.record, by, ports);
      await removePublished(drafts, number, ports);
      return { plan, number };
    } catch (error) {
      if (!isCarillonError(error) || error.code !== 'conflict' || round === MAX_ROUNDS) throw error;
    }
  }
}

/**
 * Removes published drafts. Edits saved during the publication stay as drafts: an edit of the published draft is based
 * on the new number, a draft begun anew is in conflict. A kept draft gets a new revision that its author's next save
 * accepts, and that shows a concurrent save that the base has moved.
 */
async function removePublished(
  drafts: readonly Draft[],
  number: number | null,
  { drafts: store, configuration }: Pick<ControlPorts, 'drafts' | 'configuration'>,
): Promise<void> {
  for (const draft of drafts) {
    if ((await store.remove(draft.ref, draft.revision)) === 'done') continue;
    if (number === null) continue;
    const basedOn = numberBy(number, draft.ref, configuration.history);
    for (let newer = await store.find(draft.ref); newer; newer = await store.find(draft.ref)) {
      if (newer.begun !== draft.begun || newer.basedOn !== draft.basedOn || basedOn === draft.basedOn) break;
      const rebased = { ...newer, basedOn, revision: rebasedRevision(newer) };
      if ((await store.replace(rebased, newer.revision)) === 'done') break;
    }
  }
}

/** The number that a resource had when this one had been published: its own, where that changed something else. */
function numberBy(
  number: number,
  ref: ResourceRef,
  { statesOf }: Pick<ConfigurationHistory, 'statesOf'>,
): number | null {
  const state = statesOf(ref).findLast(({ publication }) => publication.number <= number);
  return state?.resource?.number ?? null;
}
