import { MAX_COHORT_PAGES, type CohortAction } from '@carillon/domain/cohorts';
import { err, isJsonObject, ok, type CarillonError, type Json } from '@carillon/kernel';
import { z } from 'zod';
import { cohortName, type CohortReading, count, identifier, list, readShape, usersOf } from './reading.ts';

const ACTIONS = { members: 'replace', add_members: 'add', remove_members: 'remove' } as const satisfies Record<
  string,
  CohortAction
>;

/** Mixpanel’s custom webhook for cohort sync. */
const body = z.object({
  action: z.enum(['members', 'add_members', 'remove_members']),
  parameters: z.object({
    mixpanel_cohort_id: identifier,
    mixpanel_cohort_name: cohortName.nullish(),
    mixpanel_session_id: identifier,
    page_info: z.object({
      // An empty export may say that it has no pages; it still sends one.
      total_pages: count(0, MAX_COHORT_PAGES),
      page_count: count(1, MAX_COHORT_PAGES),
    }),
    members: list,
  }),
});

export function readMixpanel(json: Json, userId = 'mixpanel_distinct_id'): CohortReading {
  const read = readShape(body, json);
  if (!read.ok) return read;
  const { action, parameters } = read.value;
  const users = usersOf(parameters.members, userId);
  if (!users.ok) return err(users.error);
  const { total_pages: total, page_count: number } = parameters.page_info;
  return ok([
    {
      cohort: parameters.mixpanel_cohort_id,
      name: parameters.mixpanel_cohort_name ?? null,
      action: ACTIONS[action],
      session: parameters.mixpanel_session_id,
      // A first sync may come as additions, and it is over when all of their pages have come.
      page: action === 'remove_members' ? null : { number, of: Math.max(total, number) },
      time: null,
      ...users.value,
    },
  ]);
}

/**
 * Returns the response that Mixpanel expects: the action that it sent, and its result. Mixpanel pauses a sync after
 * 400, 401, 403 and 404.
 */
export const mixpanelEcho = (json: Json): Json => ({ action: actionOf(json) });
export const mixpanelSuccess = (json: Json): Json => ({ action: actionOf(json), status: 'success' });
export const mixpanelFailure = (json: Json | undefined, error: CarillonError, status: number): Json => ({
  action: actionOf(json),
  status: 'failure',
  error: { message: error.detail, code: status },
});

const actionOf = (json: Json | undefined): string | null => {
  const action = isJsonObject(json) ? json['action'] : null;
  return typeof action === 'string' && Object.hasOwn(ACTIONS, action) ? action : null;
};
