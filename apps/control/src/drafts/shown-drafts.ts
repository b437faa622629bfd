import type { ActorBody, DraftConflictBody, DraftFactsBody } from '@carillon/contracts';
import type { Configuration, Draft } from '@carillon/domain/configuration';
import type { Actor } from '@carillon/domain/people';
import { formatInstant, type DraftConflictFact } from '@carillon/kernel';
import type { EventLoopSlice } from '@carillon/ports';
import { numberNow, stateOf } from './states.ts';

type Show = (actor: Actor) => Promise<ActorBody>;

/** A draft without its body: whose it is, since when, and whether it can be published. */
export async function showDraftFacts(draft: Draft, current: Configuration, show: Show): Promise<DraftFactsBody> {
  const { ref, body, revision, basedOn, by, at, promotedFrom } = draft;
  const number = numberNow(current, ref);
  return {
    ...ref,
    action: body === null ? 'delete' : number === null ? 'create' : 'update',
    state: stateOf(draft, current),
    revision,
    based_on: basedOn,
    number,
    by: await show(by),
    at: formatInstant(at),
    promoted_from: promotedFrom ?? null,
  };
}

/** Shows drafts one after the other, and lets others have a turn between two. */
export async function showDrafts(
  drafts: readonly Draft[],
  current: Configuration,
  show: Show,
  slice: EventLoopSlice,
): Promise<DraftFactsBody[]> {
  const shown: DraftFactsBody[] = [];
  for (const draft of drafts) {
    if (slice.isExpired()) await slice.yield();
    shown.push(await showDraftFacts(draft, current, show));
  }
  return shown;
}

/** Returns a conflict as the API shows it. */
export const conflictBody = (fact: DraftConflictFact): DraftConflictBody => structuredClone(fact) as DraftConflictBody;

export const draftEtag = ({ revision }: Pick<Draft, 'revision'>): string => `"d${revision}"`;
