import { DEFAULTS } from '@carillon/shapes/values';
import type { RuleBody } from '../configuration/resources.ts';

/**
 * Returns the condition of a rule. For a cohort rule it also requires the matching change and excludes first syncs
 * unless the rule allows them. A single expression, so that it can be explained like any other.
 */
export function conditionOf({ when, cohort }: RuleBody): string {
  if (!cohort) return when ?? 'true';
  const change = `event.change == "${cohort.on}"`;
  const firstSync = cohort.first_sync ?? DEFAULTS.cohort.first_sync;
  const first = cohort.on === 'left' || firstSync === 'notify' ? '' : ' && event.first_sync == false';
  return when === undefined ? `${change}${first}` : `${change}${first} && (${when}\n)`;
}

/** The member: whom a rule of a cohort asks about. */
export const MEMBER = 'event.user_id';

/** Returns the expression of a rule's user ids: the rule's own, or the member. */
export const userIdsOf = (userIds: string | undefined): string => userIds ?? MEMBER;
