import type { CohortIntegration } from '../configuration/resources.ts';
import { CONTROL, type Duration, type EventId, type Instant } from '@carillon/kernel';

/** Where cohorts come from; `generic` is our own form, for whoever writes the sender. */
export type CohortPlatform = CohortIntegration['kind'];

/** Meaning of a message for its users: they enter, they leave, or they are a page of all members. */
export type CohortAction = 'add' | 'remove' | 'replace';

/** A cohort of an integration. Cohorts are identified by id, because their names change. */
export type CohortRef = { readonly workspace: string; readonly integration: string; readonly cohort: string };

/** Where a page stands in an export of several. */
export type CohortPage = {
  /** From 1. */
  readonly number: number;
  /** How many there are; null where the sender does not know yet. */
  readonly of: number | null;
};

/** Content of a webhook about one cohort, equal for every platform. */
export type CohortChange = {
  readonly cohort: string;
  /** Display name. Null if the platform sends none. */
  readonly name: string | null;
  readonly action: CohortAction;
  /** Names the export that the message belongs to; what belongs together has the same. */
  readonly session: string | null;
  /** Set for a replacement, and for additions where the platform counts their pages; else null. */
  readonly page: CohortPage | null;
  readonly userIds: readonly string[];
  /** Since when it is so, in the words of the platform: one time for all, or one for each user. */
  readonly time: Instant | readonly Instant[] | null;
  /** Members that came without a usable user id. */
  readonly skipped: number;
};

/** A record of `carillon.cohorts`. */
export type CohortMessage = Omit<CohortChange, 'action'> &
  CohortRef & {
    /**
     * The webhook's id for its first message; each later one has an id derived from that. The events of the changes
     * that a message makes have ids derived from its own.
     */
    readonly id: EventId;
    /** `settle` is the engine's own: whoever was on no page of the session leaves, a chunk at a time. */
    readonly action: CohortAction | 'settle';
    /** How long, from a cohort's first message, those without a session count as the first sync. */
    readonly firstSync: Duration;
  };

/** Maximum users in one request of a platform. A larger request is refused completely. */
export const MAX_COHORT_USERS = 10_000;
/** In how many bytes at most, and with how many fields and items of lists: a thousand members with 150 fields each. */
export const MAX_COHORT_BYTES = 4 * 1024 * 1024;
export const MAX_COHORT_VALUES = 150_000;
/** Maximum pages of one export that replaces a cohort: ten million members with a thousand per page. */
export const MAX_COHORT_PAGES = 10_000;

/** Maximum characters of an id about which a partner is asked. */
const LONGEST_ID = 255;

/** An id as text: of a user, a cohort or a session. Null where it cannot be one. */
export function identifierOf(value: unknown): string | null {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  if (typeof text !== 'string' || text === '' || text.length > LONGEST_ID || CONTROL.test(text)) return null;
  return text.isWellFormed() ? text : null;
}

/** Names a cohort in every process and for ever: parts never run into each other, since names of ours have no slash. */
export const cohortKey = ({ workspace, integration, cohort }: CohortRef): string =>
  `${workspace}/${integration}/${cohort}`;

/**
 * Returns the EVENT_PATH of a cohort's changes. It has three slashes, unlike any event stream, so that nobody can post
 * to it.
 */
export const cohortStream = ({ workspace, integration, cohort }: CohortRef): string =>
  `${workspace}/cohorts/${integration}/${encodeURIComponent(cohort)}`;
