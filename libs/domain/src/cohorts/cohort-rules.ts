import { DEFAULTS } from '@carillon/shapes/values';
import type { RuleBody } from '../configuration/resources.ts';

/**
 * What a rule is judged by: its own `when`, and where a cohort starts it, that this is the change it is about and that
 * nobody is told of a first sync unless the rule says so. One expression, so that it is explained as any other.
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

/** Whom a rule asks about: the ids that it names, or the member. */
export const userIdsOf = (userIds: string | undefined): string => userIds ?? MEMBER;
