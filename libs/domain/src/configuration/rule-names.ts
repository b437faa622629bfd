import { cohortStream } from '../cohorts/cohort-message.ts';
import type { RuleBody } from './resources.ts';

/** The stable identity that ids are derived from: the given id, else the names. */
export const ruleIdFrom = (workspace: string, notification: string, name: string, body: RuleBody): string =>
  body.id ?? `${workspace}/${notification}.${name}`;

/** Whether a rule has an address of its own: those on shared streams and those of cohorts have none. */
export const hasOwnStream = ({ stream, cohort }: RuleBody): boolean => stream === undefined && cohort === undefined;

/** Returns the EVENT_PATH that feeds a rule. */
export function rulePathFrom(workspace: string, notification: string, name: string, rule: RuleBody): string {
  const { stream, cohort } = rule;
  if (cohort) return cohortStream({ workspace, integration: cohort.integration, cohort: cohort.id });
  return stream === undefined ? (rule.path ?? `${workspace}/${notification}.${name}`) : `${workspace}/${stream}`;
}
